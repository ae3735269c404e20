// Counts what changed between two versions of a feed, from their posting indexes alone. Pure.

import type { PostingIndex } from './port.ts'

export interface PostingChanges {
  added: number
  removed: number
  /** Postings that both versions have, with other content. */
  changed: number
}

/** Several postings of one id are compared by their contents, each counted once. Linear in both sizes. */
export function compareIndexes(older: PostingIndex, newer: PostingIndex): PostingChanges {
  const changes = { added: 0, removed: 0, changed: 0 }
  let i = 0
  let j = 0
  while (i < older.ids.length || j < newer.ids.length) {
    const old = older.ids[i]
    const young = newer.ids[j]
    const id = old === undefined || (young !== undefined && young < old) ? young : old
    if (id === undefined) break
    const olderEnd = runEnd(older.ids, i, id)
    const newerEnd = runEnd(newer.ids, j, id)
    const unmatched = unequal(
      older.contents.subarray(i, olderEnd),
      newer.contents.subarray(j, newerEnd),
    )
    const pairs = Math.min(unmatched.older, unmatched.newer)
    changes.changed += pairs
    changes.removed += unmatched.older - pairs
    changes.added += unmatched.newer - pairs
    i = olderEnd
    j = newerEnd
  }
  return changes
}

function runEnd(ids: BigUint64Array, from: number, id: bigint): number {
  let end = from
  while (ids[end] === id) end++
  return end
}

/** How many of two sorted lists have no equal partner in the other one. */
function unequal(older: Uint32Array, newer: Uint32Array): { older: number; newer: number } {
  let equal = 0
  for (let i = 0, j = 0; i < older.length && j < newer.length; ) {
    const difference = (older[i] ?? 0) - (newer[j] ?? 0)
    if (difference === 0) equal++
    if (difference <= 0) i++
    if (difference >= 0) j++
  }
  return { older: older.length - equal, newer: newer.length - equal }
}
