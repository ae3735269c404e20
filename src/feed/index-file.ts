// Owns the file form of a posting index: one entry a posting, sorted, written and read in portions. It is
// not durable, so whatever a power cut left of it must read as nothing: length and checksum guard it.

import { closeSync, fstatSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { WORDS } from './entry-sort.ts'
import { translated } from './no-room.ts'

/** Names the layout and what an entry is made of: magic, CRC-32 of the entries, their number, the entries, in the machine's order. */
const MAGIC = Buffer.from('FSIX3\0\0\0')
const HEADER_BYTES = MAGIC.length + 8
const ENTRY_BYTES = WORDS * Uint32Array.BYTES_PER_ELEMENT
/** Entries of a portion: some 64 KiB. */
const PORTION = 5_461
const WHAT = 'the posting index'

export class IndexWriter {
  readonly #path: string
  readonly #fd: number
  #portion = new Uint32Array(256 * WORDS)
  #filled = 0
  #count = 0
  #crc = 0
  #closed = false

  /** Throws `NoRoom`, as every method does; a file that is there already is left alone. */
  constructor(path: string) {
    this.#path = path
    this.#fd = translated(WHAT, path, () => openSync(path, 'wx', 0o600))
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
    if (this.#count === 0) this.#write(Buffer.concat([header, rest]), 0)
    else {
      this.#flush()
      this.#write(header, 0)
    }
    this.#close()
  }

  /** Takes the file away, finished or not. */
  discard(): void {
    this.#close()
    rmSync(this.#path, { force: true })
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
    this.#write(bytes, HEADER_BYTES + this.#count * ENTRY_BYTES)
    this.#crc = crc32(bytes, this.#crc)
    this.#count += this.#filled / WORDS
    this.#filled = 0
  }

  #write(bytes: Uint8Array, begin: number): void {
    translated(WHAT, this.#path, () => {
      for (let at = 0; at < bytes.length; ) {
        at += writeSync(this.#fd, bytes, at, bytes.length - at, begin + at)
      }
    })
  }

  #close(): void {
    if (!this.#closed) closeSync(this.#fd)
    this.#closed = true
  }
}

/** Stands at one entry after the other, at none before the first `advance`. */
export class IndexReader implements Disposable {
  high = 0
  low = 0
  content = 0
  /** Behind the last entry. */
  over = false
  readonly #fd: number
  readonly #portion: Uint32Array<ArrayBuffer>
  readonly #expected: number
  #left: number
  #next = HEADER_BYTES
  #filled = 0
  #at = 0
  #crc = 0

  private constructor(fd: number, count: number, crc: number) {
    this.#fd = fd
    this.#left = count
    this.#expected = crc
    this.#portion = new Uint32Array(Math.min(count, PORTION) * WORDS)
  }

  /** Null where the file cannot be an index. Throws the system's error, as `advance` does. */
  static open(path: string): IndexReader | null {
    const fd = openSync(path, 'r')
    const header = Buffer.alloc(HEADER_BYTES)
    readSync(fd, header, 0, HEADER_BYTES, 0)
    const count = header.readUInt32LE(MAGIC.length + 4)
    const whole = fstatSync(fd).size === HEADER_BYTES + count * ENTRY_BYTES
    if (whole && header.subarray(0, MAGIC.length).equals(MAGIC)) {
      return new IndexReader(fd, count, header.readUInt32LE(MAGIC.length))
    }
    closeSync(fd)
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
    closeSync(this.#fd)
  }

  #fill(): void {
    const count = Math.min(this.#left, PORTION)
    const bytes = new Uint8Array(this.#portion.buffer, 0, count * ENTRY_BYTES)
    const read = count === 0 ? 0 : readSync(this.#fd, bytes, 0, bytes.length, this.#next)
    this.#next += read
    // A short read of a regular file: somebody cut it, and the checksum tells.
    this.over = count === 0 || read < bytes.length
    this.#crc = crc32(bytes.subarray(0, read), this.#crc)
    this.#left -= count
    this.#filled = count * WORDS
    this.#at = 0
  }
}
