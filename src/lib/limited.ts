/** limited returns the first `most` texts and one line with the number of the others, which `rest` writes. */
export function limited(
  all: readonly string[],
  most: number,
  rest = (count: number) => `and ${count} more`,
): string[] {
  const left = all.length - most
  return left > 0 ? [...all.slice(0, most), rest(left)] : [...all]
}
