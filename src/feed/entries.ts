// Stores the hash of each posting id, and the hash of its content, up to a limit. The entries lie in chunks, so growing
// copies no entries. A hash table finds the entry of an id.

import { type Hash64, hashText } from './posting-values.ts'

/** WORDS is how many 32-bit words an entry has: both halves of the id's hash, then the hash of the content. */
export const WORDS = 3
/** MOST_ENTRIES are 12 MB of entries: larger feeds are rare, and memory must stay bounded. */
export const MOST_ENTRIES = 1_000_000
/** NEW is the answer of `add` for a new id. */
export const NEW = -1
/** CHUNK is how many entries a chunk has. The first chunk and the table begin small: most feeds have few postings. */
const CHUNK = 4_096
const CHUNK_BITS = 12
const FIRST_ENTRIES = 16
const FIRST_BITS = 5
/**
 * MOST_BITS limits the size of the table. A smaller table is at most half full. The largest fills up to 95 %, which
 * costs less than another 4 MB of memory.
 */
const MOST_BITS = 20
/** The lower ENTRY_BITS of a slot hold the number of an entry; the other bits hold a part of its hash. */
const ENTRY_BITS = 21
const ENTRY = 2 ** ENTRY_BITS - 1
/** SECRET differs in each process, so that nobody can invent ids that all fall into one slot of the table. */
const [SECRET = 0, BY_HIGH = 1, BY_LOW = 1] = crypto
  .getRandomValues(new Int32Array(3))
  .map((word) => word | 1)

export class Entries {
  count = 0
  /** repeated counts the calls of `add` with the id of an earlier entry. */
  repeated = 0
  /**
   * leftOut counts the entries that came after `most` others; leftOutIds counts the left-out entries with a new id.
   */
  leftOut = 0
  leftOutIds = 0
  readonly #keepsRepeated: boolean
  readonly #words: number
  readonly #most: number
  readonly #kept: number
  readonly #chunks: Int32Array<ArrayBuffer>[] = []
  #bits = FIRST_BITS
  /** #slots uses open addressing: each slot has an entry's number (from 1) and bits of its hash, or 0 if empty. */
  #slots = new Int32Array(2 ** FIRST_BITS)

  constructor({
    keepsContent,
    keepsRepeated,
    most = MOST_ENTRIES,
    kept = most,
  }: {
    keepsContent: boolean
    /** True if an id that is stored already is stored again. */
    keepsRepeated: boolean
    /** The largest number of entries that can be found by their ids. */
    most?: number
    /** The largest number of entries that are stored: at least `most`. */
    kept?: number | undefined
  }) {
    this.#keepsRepeated = keepsRepeated
    this.#words = keepsContent ? WORDS : WORDS - 1
    this.#most = most
    this.#kept = kept
  }

  /** isWhole is true if all entries were stored. */
  get isWhole(): boolean {
    return this.leftOut === Math.max(0, this.count - this.#most)
  }

  /**
   * add stores an id and its content, unless the limit is reached, or the id is known and repeated ids are not kept. It
   * returns the number of the earlier entry with the same id, counted from 0, or NEW.
   */
  add({ high, low }: Hash64, content: number): number {
    const slot = this.#slot(high | 0, low | 0)
    const earlier = ((this.#slots[slot] as number) & ENTRY) - 1
    if (earlier !== NEW) {
      this.repeated++
      if (!this.#keepsRepeated) return earlier
    }
    const canBeFound = this.count < this.#most
    if (!canBeFound) {
      this.leftOut++
      if (earlier === NEW) this.leftOutIds++
      if (this.count >= this.#kept) return earlier
    }
    const at = (this.count % CHUNK) * this.#words
    let chunk = this.#chunks[this.count >> CHUNK_BITS]
    if (chunk === undefined || at === chunk.length) chunk = this.#lengthen(chunk)
    chunk[at] = high
    chunk[at + 1] = low
    if (this.#words === WORDS) chunk[at + 2] = content
    this.count++
    if (!canBeFound) return earlier
    if (earlier === NEW) this.#slots[slot] = (hashOf(high, low) << ENTRY_BITS) | this.count
    if (this.count * 2 > this.#slots.length && this.#bits < MOST_BITS) this.#widen()
    return earlier
  }

  /** addContent stores a posting without an id; its content takes the place of the id. */
  addContent(content: number): void {
    this.add(idOfContent(content), content)
  }

  /** byContent returns new Entries with the same postings, identified by their content instead of their ids. */
  byContent(): Entries {
    const [most, kept] = [this.#most, this.#kept]
    const same = new Entries({ keepsContent: true, keepsRepeated: true, most, kept })
    for (const words of this.parts()) {
      for (let at = 2; at < words.length; at += WORDS) same.addContent(words[at] as number)
    }
    same.leftOut = this.leftOut
    same.leftOutIds = this.leftOut
    return same
  }

  /**
   * isShared returns true if more than half of all `postings` repeat the same id, and their contents differ. If
   * contents are not kept, it takes them as different.
   */
  isShared(postings: number): boolean {
    if (this.repeated * 2 <= postings) return false
    const { high, low } = this.#majority()
    let repeats = -1
    let firstContent: number | null = null
    let differ = this.#words !== WORDS
    this.#each((otherHigh, otherLow, content) => {
      if (otherHigh !== high || otherLow !== low) return
      repeats++
      firstContent ??= content
      differ ||= content !== firstContent
    })
    return differ && repeats * 2 > postings
  }

  /** #majority returns the only id that can belong to more than half of the entries (vote of Boyer and Moore). */
  #majority(): Hash64 {
    const leader: Hash64 = { high: 0, low: 0 }
    let votes = 0
    this.#each((high, low) => {
      if (votes === 0) {
        leader.high = high
        leader.low = low
      }
      votes += high === leader.high && low === leader.low ? 1 : -1
    })
    return leader
  }

  #each(look: (high: number, low: number, content: number) => void): void {
    for (const words of this.parts()) {
      for (let at = 0; at < words.length; at += this.#words) {
        look(words[at] as number, words[at + 1] as number, words[at + 2] ?? 0)
      }
    }
  }

  /** words returns the words of all entries in one array, in the order in which the entries were added. */
  words(): Int32Array<ArrayBuffer> {
    const all = new Int32Array(this.count * this.#words)
    let at = 0
    for (const part of this.parts()) {
      all.set(part, at)
      at += part.length
    }
    return all
  }

  /** parts returns the words of the entries in several arrays, in the order in which the entries were added. */
  *parts(): Generator<Int32Array<ArrayBuffer>, void, void> {
    for (const [i, chunk] of this.#chunks.entries()) {
      yield chunk.subarray(0, Math.min(CHUNK, this.count - i * CHUNK) * this.#words)
    }
  }

  /**
   * Hot: #slot returns the slot of an id, or the free slot for an id that no slot has. The words are signed, because V8
   * can store unsigned words as objects (26 MB when the table widens).
   */
  #slot(high: number, low: number): number {
    const slots = this.#slots
    const hash = hashOf(high, low)
    for (let slot = hash >>> (32 - this.#bits); ; slot = (slot + 1) & (slots.length - 1)) {
      const found = slots[slot] as number
      if (found === 0) return slot
      if (((found ^ (hash << ENTRY_BITS)) & ~ENTRY) !== 0) continue
      const entry = (found & ENTRY) - 1
      const chunk = this.#chunks[entry >> CHUNK_BITS] as Int32Array
      const at = (entry % CHUNK) * this.#words
      if (chunk[at] === high && chunk[at + 1] === low) return slot
    }
  }

  /** #lengthen returns a chunk with room for the next entry: a new chunk, or the first chunk at twice its size. */
  #lengthen(full: Int32Array | undefined): Int32Array<ArrayBuffer> {
    const first = this.count === 0 ? FIRST_ENTRIES : CHUNK
    const chunk = new Int32Array(full === undefined ? first * this.#words : 2 * full.length)
    if (full !== undefined) chunk.set(full)
    this.#chunks[this.count >> CHUNK_BITS] = chunk
    return chunk
  }

  /** #widen enlarges the table to four times its size, up to MOST_BITS. */
  #widen(): void {
    this.#bits = Math.min(this.#bits + 2, MOST_BITS)
    this.#slots = new Int32Array(2 ** this.#bits)
    let entry = 0
    for (const words of this.parts()) {
      for (let at = 0; at < words.length; at += this.#words) {
        entry++
        const high = words[at] as number
        const low = words[at + 1] as number
        const slot = this.#slot(high, low)
        if (this.#slots[slot] === 0) this.#slots[slot] = (hashOf(high, low) << ENTRY_BITS) | entry
      }
    }
  }
}

/** wordsByContent returns a copy of the entries, identified by their content instead of their ids. */
export function wordsByContent(words: Int32Array): Int32Array {
  const same = words.slice()
  for (let at = 0; at < words.length; at += WORDS) {
    const { high, low } = idOfContent(words[at + 2] as number)
    same[at] = high
    same[at + 1] = low
  }
  return same
}

/** idOfContent returns a hash that identifies a posting by its content, in place of the hash of its id. */
function idOfContent(content: number): Hash64 {
  return hashText(`content ${content >>> 0}`)
}

/** hashOf returns the hash of an id for a table; its upper bits select the slot. Nobody outside can predict it. */
export function hashOf(high: number, low: number): number {
  const mixed = Math.imul(high ^ SECRET, BY_HIGH)
  return Math.imul(mixed ^ (mixed >>> 15) ^ low, BY_LOW)
}
