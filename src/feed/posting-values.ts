// The values of one posting's fields. A plain one stays where it stands in the bytes of the feed, until somebody
// asks for its text: of most ids nothing is needed but a hash.

import { FIELDS } from './field-paths.ts'

/** Values of several elements are put together, and what stands in elements within is part of them. */
export const PROSE = FIELDS.indexOf('description')
/** Characters of a value that are kept: ids and names are far shorter, and a description holds keywords. */
export const longest = (field: number) => (field === PROSE ? 65_536 : 1_000)

const LAST_RANK = 2 ** 31 - 1
/** The value is in `#texts`. */
const NOWHERE = -1

/** Two 32-bit hashes; together they tell apart what a feed contains (2^-25 at 2^20 ids). */
export interface Hash64 {
  high: number
  low: number
}

/** Where a value was found. */
export interface Found {
  /** Its number in `FIELDS`. */
  field: number
  /** The lowest wins. */
  rank: number
  /** The path from the record, as the feed writes it. */
  written: string
}

/** Fields are given by their numbers in `FIELDS`. */
export class PostingValues {
  /** The best rank of a value so far. */
  readonly #ranks = new Int32Array(FIELDS.length).fill(LAST_RANK)
  readonly #texts = FIELDS.map(() => '')
  readonly #paths = FIELDS.map(() => '')
  /** Where a plain value stands in `#data`. */
  readonly #from = new Int32Array(FIELDS.length).fill(NOWHERE)
  readonly #to = new Int32Array(FIELDS.length)
  #data: Buffer = Buffer.alloc(0)
  readonly #hash: Hash64 = { high: 0, low: 0 }

  clear(): void {
    for (let field = 0; field < FIELDS.length; field++) {
      if (this.#ranks[field] === LAST_RANK) continue
      this.#ranks[field] = LAST_RANK
      this.#texts[field] = ''
      this.#from[field] = NOWHERE
    }
  }

  /** Whether a value of this rank counts beside what the posting has of the field. */
  counts(field: number, rank: number): boolean {
    const best = this.#ranks[field] as number
    return rank < best || (rank === best && field === PROSE)
  }

  put({ field, rank, written }: Found, value: string): void {
    const most = longest(field)
    const whole = value.trim()
    const counting = whole.length > most ? whole.slice(0, most).trimEnd() : whole
    // A part of a string keeps all of it in memory, so what counts of a long one is copied.
    const trimmed = value.length > most ? Buffer.from(counting).toString() : counting
    if (trimmed === '' || !this.counts(field, rank)) return
    const continues = this.#ranks[field] === rank
    this.#ranks[field] = rank
    this.#paths[field] = written
    this.#from[field] = NOWHERE
    this.#texts[field] = continues ? `${this.#texts[field]}\n${trimmed}`.slice(0, most) : trimmed
  }

  /** A value that is not prose, as `isPlain` has it: from `from` to `to` of `data`, until `keep` is called. */
  putPlain({ field, rank, written }: Found, data: Buffer, from: number, to: number): void {
    if (!this.counts(field, rank)) return
    this.#ranks[field] = rank
    this.#paths[field] = written
    this.#data = data
    this.#from[field] = from
    this.#to[field] = to
  }

  /** `data` of plain values is about to be used for something else. */
  keep(): void {
    for (let field = 0; field < FIELDS.length; field++) this.#texts[field] = this.text(field)
    this.#from.fill(NOWHERE)
  }

  has(field: number): boolean {
    return this.#ranks[field] !== LAST_RANK
  }

  /** Where the posting has a value that is there, from the record. */
  path(field: number): string {
    return this.#paths[field] as string
  }

  /** Empty: the posting has no such value. */
  text(field: number): string {
    const from = this.#from[field] as number
    if (from === NOWHERE) return this.#texts[field] as string
    return this.#data.toString('latin1', from, this.#to[field])
  }

  /** Of a value that is there; the same object each time. */
  hash(field: number): Hash64 {
    const from = this.#from[field] as number
    if (from !== NOWHERE) return hashBytes(this.#data, from, this.#to[field] as number, this.#hash)
    return hashText(this.#texts[field] as string, this.#hash)
  }
}

/** Hot: whether the bytes are ASCII without control characters, and not too many for any field. */
export function isPlain(data: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = data[at] as number
    if (byte < 0x20 || byte >= 0x80) return false
  }
  return to - from <= 1_000
}

/** Of its bytes in UTF-8. */
export function hashText(text: string, into: Hash64 = { high: 0, low: 0 }): Hash64 {
  const bytes = Buffer.from(text)
  return hashBytes(bytes, 0, bytes.length, into)
}

/** Hot. */
function hashBytes(bytes: Buffer, from: number, to: number, into: Hash64): Hash64 {
  let a = 0xdeadbeef | 0
  let b = 0x41c6ce57
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number
    a = Math.imul(a ^ byte, 2654435761)
    b = Math.imul(b ^ byte, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  into.high = b
  into.low = a
  return into
}
