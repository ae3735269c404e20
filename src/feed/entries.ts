// Hashes of ids, each with a hash of what belongs to it: in chunks up to a limit, so that growing copies nothing,
// and a table that tells whether an id was there before.

import { randomInt } from 'node:crypto'

/** Words of an entry: high and low half of an id's hash, and, where it is kept, the hash of the content. */
export const WORDS = 3
/** Twelve megabytes: feeds of more postings are rare, and reading them must not take more memory. */
export const MOST_ENTRIES = 1_000_000
/** Entries of a chunk: 48 KiB. */
const CHUNK = 4_096
const CHUNK_BITS = 12
const FIRST_SLOTS = 2_048
/** Of this process: ids can be made to have like hashes, and would all want the same slot. The factor is odd. */
const [SECRET, FACTOR] = [randomInt(2 ** 32), randomInt(2 ** 31) * 2 + 1]

export class Entries {
  count = 0
  /** Entries that have the id of an earlier one. */
  repeated = 0
  /** Entries that there was no room for. */
  leftOut = 0
  /** Words of an entry. */
  readonly #words: number
  readonly #chunks: Uint32Array<ArrayBuffer>[] = []
  /** Open addressing, three quarters full at most: numbers of entries, counted from 1; 0: empty. */
  #slots = new Int32Array(FIRST_SLOTS)
  /** Leaves as many high bits as number the slots. */
  #shift = 32 - Math.log2(FIRST_SLOTS)

  /** `hashed`: the hash of the content is kept as well. */
  constructor(hashed: boolean) {
    this.#words = hashed ? WORDS : WORDS - 1
  }

  /** Answers whether an entry with this id was there before. `keepsRepeated`: adds it then, too. */
  add(high: number, low: number, content: number, keepsRepeated: boolean): boolean {
    if (this.count * 4 >= this.#slots.length * 3) this.#widen()
    const slot = this.#slot(high, low)
    const isRepeated = this.#slots[slot] !== 0
    if (isRepeated) this.repeated++
    if (isRepeated && !keepsRepeated) return true
    if (this.count === MOST_ENTRIES) {
      this.leftOut++
      return isRepeated
    }
    const at = (this.count % CHUNK) * this.#words
    if (at === 0) this.#chunks.push(new Uint32Array(CHUNK * this.#words))
    const chunk = this.#chunks[this.count >> CHUNK_BITS] as Uint32Array
    chunk[at] = high
    chunk[at + 1] = low
    if (this.#words === WORDS) chunk[at + 2] = content
    this.count++
    if (!isRepeated) this.#slots[slot] = this.count
    return isRepeated
  }

  /** In the order in which they came. */
  *parts(): Generator<Uint32Array<ArrayBuffer>, void, void> {
    for (const [i, chunk] of this.#chunks.entries()) {
      yield chunk.subarray(0, Math.min(CHUNK, this.count - i * CHUNK) * this.#words)
    }
  }

  /** Where the id is, or where it would be. */
  #slot(high: number, low: number): number {
    const mask = this.#slots.length - 1
    const mixed = Math.imul(high ^ SECRET, FACTOR)
    const start = Math.imul(mixed ^ (mixed >>> 15) ^ low, FACTOR) >>> this.#shift
    for (let slot = start; ; slot = (slot + 1) & mask) {
      const entry = (this.#slots[slot] as number) - 1
      if (entry < 0) return slot
      const chunk = this.#chunks[entry >> CHUNK_BITS] as Uint32Array
      const at = (entry % CHUNK) * this.#words
      if (chunk[at] === high && chunk[at + 1] === low) return slot
    }
  }

  #widen(): void {
    this.#slots = new Int32Array(2 * this.#slots.length)
    this.#shift--
    let entry = 0
    for (const words of this.parts()) {
      for (let at = 0; at < words.length; at += this.#words) {
        entry++
        const slot = this.#slot(words[at] as number, words[at + 1] as number)
        if (this.#slots[slot] === 0) this.#slots[slot] = entry
      }
    }
  }
}
