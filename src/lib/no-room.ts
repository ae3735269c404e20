// A file of ours that cannot be written: nothing is said of the feed, which may be fine.

import { dirname } from 'node:path'
import { errorCode, systemReason } from './errors.ts'

export class NoRoom extends Error {
  /** The system's: `ENOSPC`, `EROFS`, `EEXIST`. */
  readonly code: string

  constructor(what: string, path: string, cause: unknown) {
    // Not the name, which is another one each time.
    super(`${what} in ${dirname(path)} cannot be written: ${systemReason(cause)}`, { cause })
    this.code = errorCode(cause) ?? 'EIO'
  }

  get outcome(): { kind: 'no-room'; code: string; reason: string } {
    return { kind: 'no-room', code: this.code, reason: this.message }
  }
}

/** Does the work; throws `NoRoom` where it throws. `what`: `the copy`. */
export function translated<T>(what: string, path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new NoRoom(what, path, error)
  }
}
