// The values of one posting's fields. A plain value stays in the bytes of the feed until a caller asks for its text,
// because most ids are only hashed.

import { FIELDS } from './field-paths.ts'

/** PROSE is the number of the field that joins the texts of several elements, and of the elements inside them. */
export const PROSE = FIELDS.indexOf('description')
export const TITLE = FIELDS.indexOf('title')
/** longest returns how many characters of a value are kept. Ids and names are far shorter than this. */
export const longest = (field: number) => (field === PROSE ? 65_536 : 1_000)

/** LAST_RANK is the rank of a field without a value. */
const LAST_RANK = 2 ** 31 - 1
/** IN_TEXTS, in place of an offset in `#data`, means that the value is in `#texts`. */
const IN_TEXTS = -1

/** Hash64 has two 32-bit halves. Among 2^20 ids, the chance of two equal hashes is 2^-25. */
export interface Hash64 {
  high: number
  low: number
}

/** FieldSource says which field a value belongs to, and where it was found. */
export interface FieldSource {
  /** Number of the field in `FIELDS`. */
  field: number
  /** Of several values for a field, the value with the lowest rank is kept. */
  rank: number
  /** Path from the record to the value, as the feed spells it. */
  written: string
  /** A value that consists of digits is not kept: `<position>3</position>` is not a title. */
  refusesDigits?: boolean
}

/** PostingValues keeps the best value of each field. Fields are numbers in `FIELDS`. */
export class PostingValues {
  /** #ranks has the best rank of each field so far. */
  readonly #ranks = new Int32Array(FIELDS.length).fill(LAST_RANK)
  readonly #texts = FIELDS.map(() => '')
  readonly #paths = FIELDS.map(() => '')
  /** #from and #to have the place of each plain value in `#data`. */
  readonly #from = new Int32Array(FIELDS.length).fill(IN_TEXTS)
  readonly #to = new Int32Array(FIELDS.length)
  #data: Buffer = Buffer.alloc(0)
  readonly #hash: Hash64 = { high: 0, low: 0 }

  clear(): void {
    for (let field = 0; field < FIELDS.length; field++) {
      if (this.#ranks[field] === LAST_RANK) continue
      this.#ranks[field] = LAST_RANK
      this.#texts[field] = ''
      this.#from[field] = IN_TEXTS
    }
  }

  /** accepts returns true if a value of this rank replaces the current value or, in prose, is added to it. */
  accepts(field: number, rank: number): boolean {
    const best = this.#ranks[field] as number
    return rank < best || (rank === best && field === PROSE)
  }

  /** put keeps a value if its rank is accepted. It cuts the value to `longest`, and joins the texts of prose. */
  put({ field, rank, written, refusesDigits }: FieldSource, value: string): void {
    const most = longest(field)
    const whole = value.trim()
    const cut = whole.length > most ? whole.slice(0, most).trimEnd() : whole
    // V8 keeps the whole string of a slice in memory, so the slice of a long string is copied.
    const trimmed = value.length > most ? Buffer.from(cut).toString() : cut
    if (trimmed === '' || !this.accepts(field, rank)) return
    if (refusesDigits && /^\d+$/.test(trimmed)) return
    const continues = this.#ranks[field] === rank
    this.#ranks[field] = rank
    this.#paths[field] = written
    this.#from[field] = IN_TEXTS
    this.#texts[field] = continues ? `${this.#texts[field]}\n${trimmed}`.slice(0, most) : trimmed
  }

  /**
   * putPlain keeps the place of a value that `isPlain` accepts, if its rank is accepted. The field must not be prose,
   * and `data` must stay as it is until `keep` is called.
   */
  putPlain(found: FieldSource, data: Buffer, from: number, to: number): void {
    const { field, rank, written } = found
    if (!this.accepts(field, rank)) return
    if (found.refusesDigits === true && hasOnlyDigits(data, from, to)) return
    this.#ranks[field] = rank
    this.#paths[field] = written
    this.#data = data
    this.#from[field] = from
    this.#to[field] = to
  }

  /** keep copies the plain values out of `data`, before the caller overwrites `data`. */
  keep(): void {
    for (let field = 0; field < FIELDS.length; field++) this.#texts[field] = this.text(field)
    this.#from.fill(IN_TEXTS)
  }

  has(field: number): boolean {
    return this.#ranks[field] !== LAST_RANK
  }

  /** path returns where the posting has a field, such as `location/city`. Call it only if the posting has the field. */
  path(field: number): string {
    return this.#paths[field] as string
  }

  /** text returns the empty string if the posting lacks the field. */
  text(field: number): string {
    const from = this.#from[field] as number
    if (from === IN_TEXTS) return this.#texts[field] as string
    return this.#data.toString('latin1', from, this.#to[field])
  }

  /** hash returns the hash of a field that the posting has, in the same object each time. */
  hash(field: number): Hash64 {
    const from = this.#from[field] as number
    if (from !== IN_TEXTS) return hashBytes(this.#data, from, this.#to[field] as number, this.#hash)
    return hashText(this.#texts[field] as string, this.#hash)
  }
}

/** Hot: isPlain returns true for ASCII without control characters that is short enough for any field. */
export function isPlain(data: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = data[at] as number
    if (byte < 0x20 || byte >= 0x80) return false
  }
  return to - from <= 1_000
}

function hasOnlyDigits(data: Buffer, from: number, to: number): boolean {
  let at = from
  while (at < to && (data[at] as number) >= 0x30 && (data[at] as number) <= 0x39) at++
  return at === to
}

/** hashText hashes the UTF-8 bytes of a text, writes the hash into `into`, and returns `into`. */
export function hashText(text: string, into: Hash64 = { high: 0, low: 0 }): Hash64 {
  const bytes = Buffer.from(text)
  return hashBytes(bytes, 0, bytes.length, into)
}

/** Hot: hashBytes hashes the bytes from `from` to `to`, writes the hash into `into`, and returns `into`. */
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
