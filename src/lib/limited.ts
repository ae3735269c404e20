/** The first `most`, and what `rest` says of the number of the others: a person can take in no more. */
export function limited(
  all: readonly string[],
  most: number,
  rest = (count: number) => `and ${count} more`,
): string[] {
  const left = all.length - most
  return left > 0 ? [...all.slice(0, most), rest(left)] : [...all]
}
