// Hashes of ids, each with a hash of what belongs to it: in chunks up to a limit, so that growing copies nothing,
// and a table that tells whether an id was there before.

import { type Hash64, hashText } from './posting-values.ts'

/** Words of an entry: high and low half of an id's hash, and, where it is kept, the hash of the content. */
export const WORDS = 3
/** Twelve megabytes: feeds of more postings are rare, and reading them must not take more memory. */
export const MOST_ENTRIES = 1_000_000
/** What `add` answers where an id is new. */
export const NEW = -1
/** Entries of a chunk: 48 KiB. The first one begins small, as the table does: most feeds have few postings. */
const CHUNK = 4_096
const CHUNK_BITS = 12
const FIRST_ENTRIES = 16
const FIRST_BITS = 5
/** Up to here the table is at most half full; the largest one fills up to 95 %, which costs less than 4 MB more would. */
const MOST_BITS = 20
/** Bits of a slot that hold the number of an entry; the others hold some of the hash. */
const ENTRY_BITS = 21
const ENTRY = 2 ** ENTRY_BITS - 1
/** Of this process, so that nobody can make up ids that all meet in one place of the table. */
const [SECRET = 0, BY_HIGH = 1, BY_LOW = 1] = crypto
  .getRandomValues(new Int32Array(3))
  .map((word) => word | 1)

export class Entries {
  count = 0
  /** Entries that have the id of an earlier one. */
  repeated = 0
  /** Entries that there was no room for, and how many of them have an id that no other entry has, as far as is known. */
  leftOut = 0
  unknown = 0
  /** Words of an entry. */
  readonly #words: number
  readonly #most: number
  readonly #chunks: Int32Array<ArrayBuffer>[] = []
  /** Open addressing: numbers of entries, counted from 1, with bits of their hash; 0: empty. */
  #bits = FIRST_BITS
  #slots = new Int32Array(2 ** FIRST_BITS)

  /** `hashed`: the hash of the content is kept as well. */
  constructor(hashed: boolean, most = MOST_ENTRIES) {
    this.#words = hashed ? WORDS : WORDS - 1
    this.#most = most
  }

  /**
   * Answers which entry has this id already, counted from 0; NEW: none, and it was added. `keepsRepeated`: one that
   * is there is added again.
   */
  add({ high, low }: Hash64, content: number, keepsRepeated: boolean): number {
    const slot = this.#slot(high | 0, low | 0)
    const earlier = ((this.#slots[slot] as number) & ENTRY) - 1
    if (earlier !== NEW) {
      this.repeated++
      if (!keepsRepeated) return earlier
    }
    if (this.count === this.#most) {
      this.leftOut++
      if (earlier === NEW) this.unknown++
      return earlier
    }
    const at = (this.count % CHUNK) * this.#words
    let chunk = this.#chunks[this.count >> CHUNK_BITS]
    if (chunk === undefined || at === chunk.length) chunk = this.#lengthen(chunk)
    chunk[at] = high
    chunk[at + 1] = low
    if (this.#words === WORDS) chunk[at + 2] = content
    this.count++
    if (earlier === NEW) this.#slots[slot] = (hashOf(high, low) << ENTRY_BITS) | this.count
    if (this.count * 2 > this.#slots.length && this.#bits < MOST_BITS) this.#widen()
    return earlier
  }

  /** One that has no id: its content stands for it. */
  addContent(content: number): void {
    this.add(hashText(`content ${content >>> 0}`), content, true)
  }

  /** The same entries without their ids. */
  byContent(): Entries {
    const same = new Entries(true, this.#most)
    for (const words of this.parts()) {
      for (let at = 2; at < words.length; at += WORDS) same.addContent(words[at] as number)
    }
    same.leftOut = this.leftOut
    same.unknown = this.leftOut
    return same
  }

  /** Whether more than half of so many postings have the id of an earlier one, and all of them the same. */
  isShared(postings: number): boolean {
    if (this.repeated * 2 <= postings) return false
    // The id that no other ones outnumber, if there is one (Boyer and Moore).
    let [high, low, votes] = [0, 0, 0]
    const each = (look: (high: number, low: number) => void) => {
      for (const words of this.parts()) {
        for (let at = 0; at < words.length; at += this.#words) {
          look(words[at] as number, words[at + 1] as number)
        }
      }
    }
    each((h, l) => {
      if (votes === 0) [high, low] = [h, l]
      votes += h === high && l === low ? 1 : -1
    })
    let earlier = -1
    each((h, l) => {
      if (h === high && l === low) earlier++
    })
    return earlier * 2 > postings
  }

  /** In the order in which they came. */
  *parts(): Generator<Int32Array<ArrayBuffer>, void, void> {
    for (const [i, chunk] of this.#chunks.entries()) {
      yield chunk.subarray(0, Math.min(CHUNK, this.count - i * CHUNK) * this.#words)
    }
  }

  /** Hot: where the id is, or where it would be. Of signed words, since others may become objects: 26 MB when it widens. */
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

  /** Room for more entries: a new chunk, or the first one doubled. */
  #lengthen(full: Int32Array | undefined): Int32Array<ArrayBuffer> {
    const first = this.count === 0 ? FIRST_ENTRIES : CHUNK
    const chunk = new Int32Array(full === undefined ? first * this.#words : 2 * full.length)
    if (full !== undefined) chunk.set(full)
    this.#chunks[this.count >> CHUNK_BITS] = chunk
    return chunk
  }

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

/** Where in the table an id belongs: its upper bits. */
function hashOf(high: number, low: number): number {
  const mixed = Math.imul(high ^ SECRET, BY_HIGH)
  return Math.imul(mixed ^ (mixed >>> 15) ^ low, BY_LOW)
}
