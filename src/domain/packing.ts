// Recognises gzip-compressed feeds by their names, and estimates their unpacked size.

const ENDING = /(?<=\.xml)\.gz$/i

export function isPacked(path: string): boolean {
  return ENDING.test(path)
}

/** unpackedName removes `.gz`, because `jobs.xml` and `jobs.xml.gz` are one feed. */
export function unpackedName(path: string): string {
  return path.replace(ENDING, '')
}

/** XML packs to between a fifth and a twentieth. Use the higher ratio, so that a large feed cannot block small ones. */
const HIGHEST_USUAL_RATIO = 20

/**
 * estimatedBytes returns the size in bytes of the feed in a file, to choose the thread that reads it. For a packed file
 * the size is an estimate. Returns null if `file` is null.
 */
export function estimatedBytes(path: string, file: { size: number }): number
export function estimatedBytes(path: string, file: { size: number } | null): number | null
export function estimatedBytes(path: string, file: { size: number } | null): number | null {
  if (file === null) return null
  return isPacked(path) ? file.size * HIGHEST_USUAL_RATIO : file.size
}
