// A file that leaves the folder, as the inbox moves it and the history records it.

import type { FileIdentity } from '../lib/files.ts'

export type Disposition = 'archive' | 'quarantine' | 'delete'

/**
 * Departure is a file that leaves the folder. The history records it before the file is touched. After a crash, only
 * recorded files count as partly moved: a file name proves nothing.
 */
export interface Departure {
  /** Relative to the folder, with `/`. */
  path: string
  identity: FileIdentity
  disposition: Disposition
  /** SHA-256 of the feed in the file, lower-case hexadecimal; null if it was not read to its end. */
  sha256: string | null
  /** 12 random hexadecimal digits, a part of the temporary name. */
  token: string
}
