// Owns the form of a posting index: one entry a posting, sorted, written and read in portions. The file is
// not durable, so whatever a power cut left of it must read as nothing: length and checksum guard it.

import { crc32 } from 'node:zlib'
import { WORDS } from './entry-sort.ts'
import { type IndexSource, type IndexTarget, indexSource } from './index-place.ts'

/** Names the layout and what an entry is made of: magic, CRC-32 of the entries, their number, the entries, in the machine's order. */
const MAGIC = Buffer.from('FSIX4\0\0\0')
const HEADER_BYTES = MAGIC.length + 8
const ENTRY_BYTES = WORDS * Uint32Array.BYTES_PER_ELEMENT
/** Entries of a portion: some 64 KiB. */
const PORTION = 5_461

export class IndexWriter {
  readonly #target: IndexTarget
  #portion = new Uint32Array(256 * WORDS)
  #filled = 0
  #count = 0
  #crc = 0

  /** Every method throws `NoRoom`. */
  constructor(target: IndexTarget) {
    this.#target = target
  }

  /** In sorted order. */
  add(entries: Uint32Array, at: number): void {
    if (this.#filled === this.#portion.length) this.#makeRoom()
    for (let word = 0; word < WORDS; word++) {
      this.#portion[this.#filled++] = entries[at + word] as number
    }
  }

  finish(): void {
    const rest = new Uint8Array(this.#portion.buffer, 0, this.#filled * 4)
    const header = Buffer.alloc(HEADER_BYTES)
    const count = this.#count + this.#filled / WORDS
    MAGIC.copy(header)
    header.writeUInt32LE(crc32(rest, this.#crc), MAGIC.length)
    header.writeUInt32LE(count, MAGIC.length + 4)
    if (this.#count === 0) this.#target.write(Buffer.concat([header, rest]), 0)
    else {
      this.#flush()
      this.#target.write(header, 0)
    }
    this.#target.close()
  }

  /** Takes the file away, finished or not. */
  discard(): void {
    this.#target.discard()
  }

  #makeRoom(): void {
    if (this.#portion.length < PORTION * WORDS) {
      const larger = new Uint32Array(PORTION * WORDS)
      larger.set(this.#portion)
      this.#portion = larger
    } else this.#flush()
  }

  #flush(): void {
    const bytes = new Uint8Array(this.#portion.buffer, 0, this.#filled * 4)
    this.#target.write(bytes, HEADER_BYTES + this.#count * ENTRY_BYTES)
    this.#crc = crc32(bytes, this.#crc)
    this.#count += this.#filled / WORDS
    this.#filled = 0
  }
}

/** Stands at one entry after the other, at none before the first `advance`. */
export class IndexReader implements Disposable {
  high = 0
  low = 0
  content = 0
  /** Behind the last entry. */
  over = false
  readonly #source: IndexSource
  readonly #portion: Uint32Array<ArrayBuffer>
  readonly #expected: number
  #left: number
  #next = HEADER_BYTES
  #filled = 0
  #at = 0
  #crc = 0

  private constructor(source: IndexSource, count: number, crc: number) {
    this.#source = source
    this.#left = count
    this.#expected = crc
    this.#portion = new Uint32Array(Math.min(count, PORTION) * WORDS)
  }

  /** Null where that cannot be an index. Throws the system's error, as `advance` does. */
  static open(place: string | Uint8Array): IndexReader | null {
    const source = indexSource(place)
    const header = Buffer.alloc(HEADER_BYTES)
    source.read(header, 0)
    const count = header.readUInt32LE(MAGIC.length + 4)
    const whole = source.fits(HEADER_BYTES + count * ENTRY_BYTES)
    if (whole && header.subarray(0, MAGIC.length).equals(MAGIC)) {
      return new IndexReader(source, count, header.readUInt32LE(MAGIC.length))
    }
    source[Symbol.dispose]()
    return null
  }

  /** Whether what was read to its end is what was written. */
  get sound(): boolean {
    return this.over && this.#crc === this.#expected
  }

  advance(): void {
    if (this.#at === this.#filled) this.#fill()
    if (this.over) return
    this.high = this.#portion[this.#at] as number
    this.low = this.#portion[this.#at + 1] as number
    this.content = this.#portion[this.#at + 2] as number
    this.#at += WORDS
  }

  [Symbol.dispose](): void {
    this.#source[Symbol.dispose]()
  }

  #fill(): void {
    const count = Math.min(this.#left, PORTION)
    const bytes = new Uint8Array(this.#portion.buffer, 0, count * ENTRY_BYTES)
    const read = count === 0 ? 0 : this.#source.read(bytes, this.#next)
    this.#next += read
    // A short read of a regular file: somebody cut it, and the checksum tells.
    this.over = count === 0 || read < bytes.length
    this.#crc = crc32(bytes.subarray(0, read), this.#crc)
    this.#left -= count
    this.#filled = count * WORDS
    this.#at = 0
  }
}
