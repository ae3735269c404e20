// Finds the partner of each posting in another version of the feed, by the hashes of ids and contents. It is the one
// owner of what counts as added, removed and changed.

import type { PostingChanges } from '../domain/difference.ts'
import { hashOf, WORDS } from './entries.ts'

/** SAME marks a posting that both versions have unchanged. NONE marks an added or removed posting. */
export const SAME = -1
export const NONE = -2

/**
 * Matches has, for each posting of both versions, the number of the posting in the other version that it was changed
 * from or to, or SAME or NONE. Postings are counted from 0.
 */
export interface Matches {
  older: Int32Array
  newer: Int32Array
}

/**
 * matchPostings matches the entries (entries.ts) of two versions. Equal postings match first. Then a posting matches the
 * first one that has its id and is left. So postings that share an id are compared by their contents, each once.
 */
export function matchPostings(older: Int32Array, newer: Int32Array): Matches {
  const matches = {
    older: new Int32Array(older.length / WORDS).fill(NONE),
    newer: new Int32Array(newer.length / WORDS).fill(NONE),
  }
  const pair = (words: number, take: (from: number, to: number) => void) => {
    const chains = new Chains(older, words, matches.older)
    for (let to = 0; to < matches.newer.length; to++) {
      if (matches.newer[to] !== NONE) continue
      const from = chains.takeFirst(newer, to)
      if (from !== NONE) take(from, to)
    }
  }
  pair(WORDS, (from, to) => {
    matches.older[from] = SAME
    matches.newer[to] = SAME
  })
  pair(WORDS - 1, (from, to) => {
    matches.older[from] = to
    matches.newer[to] = from
  })
  return matches
}

/** changesOf counts the postings that were added, removed and changed. */
export function changesOf({ newer, older }: Matches): PostingChanges {
  const changes = { added: 0, removed: 0, changed: 0 }
  for (const partner of older) {
    if (partner === NONE) changes.removed++
    else if (partner !== SAME) changes.changed++
  }
  for (const partner of newer) if (partner === NONE) changes.added++
  return changes
}

/** Chains is a hash table of the entries without a partner; those with the same key form a chain in their order. */
class Chains {
  readonly #entries: Int32Array
  /** #words is how many words of an entry are its key. */
  readonly #words: number
  readonly #slots: Int32Array
  readonly #shift: number
  /** #first is the first posting of a chain, at the number of the posting that its slot names. */
  readonly #first: Int32Array
  readonly #next: Int32Array

  constructor(entries: Int32Array, words: number, partners: Int32Array) {
    this.#entries = entries
    this.#words = words
    const unmatched = partners.reduce((sum, partner) => sum + Number(partner === NONE), 0)
    const bits = Math.max(4, 33 - Math.clz32(unmatched))
    this.#shift = 32 - bits
    this.#slots = new Int32Array(2 ** bits).fill(NONE)
    this.#first = new Int32Array(partners.length)
    this.#next = new Int32Array(partners.length)
    for (let n = partners.length - 1; n >= 0; n--) if (partners[n] === NONE) this.#add(n)
  }

  /** takeFirst removes and returns the first posting that has the key of entry `n` of `others`; NONE if none has. */
  takeFirst(others: Int32Array, n: number): number {
    const named = this.#slots[this.#slotOf(others, n)] as number
    if (named === NONE) return NONE
    const first = this.#first[named] as number
    if (first !== NONE) this.#first[named] = this.#next[first] as number
    return first
  }

  #add(n: number): void {
    const slot = this.#slotOf(this.#entries, n)
    const named = this.#slots[slot] as number
    if (named === NONE) this.#slots[slot] = n
    const chain = named === NONE ? n : named
    this.#next[n] = named === NONE ? NONE : (this.#first[chain] as number)
    this.#first[chain] = n
  }

  /** Hot: #slotOf returns the slot of a key, or the free slot for it. */
  #slotOf(entries: Int32Array, n: number): number {
    const at = n * WORDS
    const [high, low] = [entries[at] as number, entries[at + 1] as number]
    const isWhole = this.#words === WORDS
    const content = isWhole ? (entries[at + 2] as number) : 0
    const mask = this.#slots.length - 1
    for (let slot = hashOf(high ^ content, low) >>> this.#shift; ; slot = (slot + 1) & mask) {
      const known = this.#slots[slot] as number
      if (known === NONE) return slot
      const to = known * WORDS
      const isEqual =
        this.#entries[to] === high &&
        this.#entries[to + 1] === low &&
        (!isWhole || this.#entries[to + 2] === content)
      if (isEqual) return slot
    }
  }
}
