// How a feed is read: sizes and limits, which tests replace, and who gets its survey.

import { LIMITS, type Limits } from '../xml/limits.ts'
import type { HashFollower } from './hash-follower.ts'
import type { HashJob } from './hashes.ts'
import { MOST_UNPACKED } from './packed-file.ts'
import type { SurveyTaker } from './survey.ts'

export interface ReadOptions {
  /** pieceSize is in bytes, for reading and copying. */
  pieceSize: number
  limits: Limits
  beforePiece: () => void
  /**
   * hashes says when the file is hashed: `apart` hashes it after the reading or by `follow`, `inline` hashes each piece
   * that is read, so that the file is read once, and `none` leaves the hashes null.
   */
  hashes: 'apart' | 'inline' | 'none'
  /** follow lets another thread hash a file that is not packed; null if no other thread can. */
  follow: ((job: HashJob) => HashFollower) | null
  /** mostUnpacked limits the unpacked size of a packed file, in bytes. */
  mostUnpacked: number
  /** survey receives what is needed to read the same postings again; null means that nobody reads them again. */
  survey: SurveyTaker | null
}

export const DEFAULTS: ReadOptions = {
  pieceSize: 2 ** 20,
  limits: LIMITS,
  beforePiece: () => {},
  hashes: 'apart',
  follow: null,
  mostUnpacked: MOST_UNPACKED,
  survey: null,
}
