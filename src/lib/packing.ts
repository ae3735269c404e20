// Which files are gzip-compressed feeds, by their names, and about how large they are unpacked.

const ENDING = /(?<=\.xml)\.gz$/i

export function isPacked(path: string): boolean {
  return ENDING.test(path)
}

/** The name of what is in it: `jobs.xml` and `jobs.xml.gz` are one feed. */
export function unpackedName(path: string): string {
  return path.replace(ENDING, '')
}

/** XML packs to between a fifth and a twentieth: rather a place among the large ones than in the way of small ones. */
const LIKELY_RATIO = 20

/** Bytes of the feed in a file; of a packed one a guess, for its place among others. */
export function estimatedBytes(path: string, file: { size: number }): number
export function estimatedBytes(path: string, file: { size: number } | null): number | null
export function estimatedBytes(path: string, file: { size: number } | null): number | null {
  if (file === null) return null
  return isPacked(path) ? file.size * LIKELY_RATIO : file.size
}
