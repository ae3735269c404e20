// Finds the partner of each posting in another version of the feed, by the hashes of ids and contents. This file alone
// decides what counts as added, removed and changed.

import type { PostingChanges } from '../domain/difference.ts'
import { hashOf, WORDS } from './entries.ts'

/** SAME marks a posting that is equal in both versions. NONE marks an added or removed posting. */
export const SAME = -1
export const NONE = -2

/**
 * Matches has one number for each posting of a version. For a changed posting it is the number of its partner in the
 * other version, counted from 0; for all other postings it is SAME or NONE.
 */
export interface Matches {
  older: Int32Array
  newer: Int32Array
}

/**
 * matchPostings matches the entries (entries.ts) of two versions. First, postings with equal ids and contents match.
 * Then each posting that is left matches the first posting that is left and has the same id. So no posting matches
 * twice, and postings that share an id are compared by their contents.
 */
export function matchPostings(older: Int32Array, newer: Int32Array): Matches {
  const matches = {
    older: new Int32Array(older.length / WORDS).fill(NONE),
    newer: new Int32Array(newer.length / WORDS).fill(NONE),
  }
  const pair = (keyWords: number, take: (from: number, to: number) => void) => {
    const chains = new Chains(older, keyWords, matches.older)
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

/** Chains is a hash table of the entries without a partner. Entries with the same key form a chain, in their order. */
class Chains {
  readonly #entries: Int32Array
  /** #keyWords is how many words of an entry are its key: all of them, or the words of the id. */
  readonly #keyWords: number
  /** #slots has, for each key, the number of one posting with this key; NONE if the slot is free. */
  readonly #slots: Int32Array
  readonly #shift: number
  /** `#first[n]` is the first posting of the chain whose slot has posting n; NONE if the chain is empty. */
  readonly #first: Int32Array
  /** `#next[n]` is the posting after posting n in its chain; NONE after the last posting. */
  readonly #next: Int32Array

  constructor(entries: Int32Array, keyWords: number, partners: Int32Array) {
    this.#entries = entries
    this.#keyWords = keyWords
    const unmatched = partners.reduce((sum, partner) => sum + Number(partner === NONE), 0)
    const bits = Math.max(4, 33 - Math.clz32(unmatched))
    this.#shift = 32 - bits
    this.#slots = new Int32Array(2 ** bits).fill(NONE)
    this.#first = new Int32Array(partners.length)
    this.#next = new Int32Array(partners.length)
    for (let n = partners.length - 1; n >= 0; n--) if (partners[n] === NONE) this.#add(n)
  }

  /**
   * takeFirst removes and returns the first posting that has the key of entry `n` of `others`; NONE if there is none.
   */
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
    const isWhole = this.#keyWords === WORDS
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
