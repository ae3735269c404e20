// Counts what changed between two versions of a feed, from their posting indexes alone. Reads both files
// in portions, side by side: linear in both sizes, in the memory of two portions.

import { errorCode } from '../lib/errors.ts'
import { IndexReader } from './index-file.ts'
import type { PostingChanges } from './port.ts'

/**
 * `older` and `newer`: where the indexes are (`Comparison`). Null where one of them is not there, not whole or not to be
 * read: then nothing is known, which is no reason to hold up a feed. Several postings of one id are
 * compared by their contents, each counted once.
 */
export function compareIndexes(older: string, newer: string | Uint8Array): PostingChanges | null {
  try {
    using a = IndexReader.open(older)
    using b = IndexReader.open(newer)
    return a === null || b === null ? null : compared(a, b)
  } catch (error) {
    if (errorCode(error) === null) throw error
    return null
  }
}

function compared(a: IndexReader, b: IndexReader): PostingChanges | null {
  const changes = { added: 0, removed: 0, changed: 0 }
  a.advance()
  b.advance()
  while (!a.over || !b.over) {
    const unmatched = compareOneId(a, b)
    const pairs = Math.min(unmatched.older, unmatched.newer)
    changes.changed += pairs
    changes.removed += unmatched.older - pairs
    changes.added += unmatched.newer - pairs
  }
  return a.sound && b.sound ? changes : null
}

/** How many postings of the next id have no equal partner on the other side. */
function compareOneId(a: IndexReader, b: IndexReader): { older: number; newer: number } {
  const { high, low } = isBefore(b, a) ? b : a
  const unmatched = { older: 0, newer: 0 }
  for (;;) {
    const left = !a.over && a.high === high && a.low === low
    const right = !b.over && b.high === high && b.low === low
    if (!left && !right) return unmatched
    const difference = left && right ? a.content - b.content : left ? -1 : 1
    if (difference < 0) unmatched.older++
    if (difference > 0) unmatched.newer++
    if (difference <= 0) a.advance()
    if (difference >= 0) b.advance()
  }
}

function isBefore(a: IndexReader, b: IndexReader): boolean {
  if (a.over || b.over) return b.over
  return a.high - b.high < 0 || (a.high === b.high && a.low < b.low)
}
