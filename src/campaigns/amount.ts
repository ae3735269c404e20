// Amounts of money: decimal text in files, numbers on the wire, and whole ten-thousandths in between, so that sums
// and comparisons never round.

/** Amount is money in whole ten-thousandths of the account's currency. */
export type Amount = number

const SCALE = 10_000

/** parseAmount reads `1500.00` or `0.0125`; null for other text, for more than `decimals` decimals, and for zero. */
export function parseAmount(text: string, decimals: 2 | 4): Amount | null {
  const found = /^(\d{1,9})(?:\.(\d{1,4}))?$/.exec(text)
  const [, whole = '', fraction = ''] = found ?? []
  if (found === null || fraction.length > decimals) return null
  const amount = Number(whole) * SCALE + Number(fraction.padEnd(4, '0'))
  return amount > 0 ? amount : null
}

export const toWire = (amount: Amount): number => amount / SCALE
export const fromWire = (value: number): Amount => Math.round(value * SCALE)

/** showAmount writes two decimals, or four where two would round. */
export function showAmount(amount: Amount): string {
  return (amount / SCALE).toFixed(amount % 100 === 0 ? 2 : 4)
}
