// What the inbox and the history both know of a file that leaves the folder.

import type { FileIdentity } from '../lib/files.ts'

export type Disposition = 'archive' | 'quarantine' | 'delete'

/**
 * Departure is a file that leaves the folder. The history records the departure before anything touches the file. After
 * a crash, only a recorded file counts as partly moved, because a temporary name alone proves nothing.
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
