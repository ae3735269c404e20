// Remembers the reads of vendors' files that do not return, and which other reads would probably hang, too.

import { HungCalls } from '../lib/hung-calls.ts'
import type { CheckResult } from './port.ts'

/** HANGS is the result for a file whose read hangs. */
export const HANGS: Extract<CheckResult, { kind: 'unreadable' }> = {
  kind: 'unreadable',
  code: null,
  reason: 'a read hangs: its disk or file server does not answer',
  hint: 'check its disk or network mount; feedsyncd reads the file again once it answers',
}

/** While MOST_TRIED reads of files in one directory hang, no other file in this directory is read. */
const MOST_TRIED = 4

export class HungReads extends HungCalls {
  /** isRefused returns true if a read of this file hangs, or would probably hang, too. */
  isRefused(file: string): boolean {
    if (this.has(file)) return true
    const inSameDirectory = this.all().filter(({ path }) => directoryOf(path) === directoryOf(file))
    return inSameDirectory.length >= MOST_TRIED
  }
}

const directoryOf = (path: string) => path.slice(0, path.lastIndexOf('/'))
