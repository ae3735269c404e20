// Writes counts and money for people: `1 posting`, `1,200 postings`, `1,500.00`.

/** counted writes a count, with the name of what is counted; a plural needs an s. */
export function counted(count: number, thing: string | null = null): string {
  const text = count.toLocaleString('en-US')
  return thing === null ? text : `${text} ${thing}${count === 1 ? '' : 's'}`
}

/** groupedMoney writes decimal text with commas: `1,500.00`; `-` for null. */
export function groupedMoney(amount: string | null): string {
  if (amount === null) return '-'
  const [whole = '', cents] = amount.split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return cents === undefined ? grouped : `${grouped}.${cents}`
}
