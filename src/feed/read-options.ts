// How a feed is read: sizes and limits, which tests replace, and who gets its survey.

import { LIMITS, type Limits } from '../xml/limits.ts'
import { MOST_UNPACKED } from './packed-file.ts'
import type { SurveyTaker } from './survey.ts'

export interface ReadOptions {
  /** pieceSize is in bytes, for reading and copying. */
  pieceSize: number
  limits: Limits
  /** beforePiece is called before each piece is checked. */
  beforePiece: () => void
  /**
   * hashes says when the file is hashed: `apart` hashes it after the reading or in the hashing thread, `inline` hashes
   * each piece that is read, so that the file is read once, and `none` leaves the hashes null.
   */
  hashes: 'apart' | 'inline' | 'none'
  /** hashThreadFrom is the least size, in bytes, for the hashing thread. Packed files never use the hashing thread. */
  hashThreadFrom: number
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
  hashThreadFrom: 8 * 2 ** 20,
  mostUnpacked: MOST_UNPACKED,
  survey: null,
}
