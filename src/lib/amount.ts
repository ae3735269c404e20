// Owns amounts of money: decimal text in files, numbers on the wire, whole ten-thousandths in between, so
// that no sum and no comparison ever rounds.

/** Whole ten-thousandths of the account's currency. */
export type Amount = number

const SCALE = 10_000

/** `1500.00` or `0.0125`, above zero; null for anything else. */
export function parseAmount(text: string, decimals: 2 | 4): Amount | null {
  const found = /^(\d{1,9})(?:\.(\d{1,4}))?$/.exec(text)
  const [, whole = '', fraction = ''] = found ?? []
  if (found === null || fraction.length > decimals) return null
  const amount = Number(whole) * SCALE + Number(fraction.padEnd(4, '0'))
  return amount > 0 ? amount : null
}

export const toWire = (amount: Amount): number => amount / SCALE
export const fromWire = (value: number): Amount => Math.round(value * SCALE)

/** Two decimals, or four where two would round. */
export function showAmount(amount: Amount): string {
  return (amount / SCALE).toFixed(amount % 100 === 0 ? 2 : 4)
}
