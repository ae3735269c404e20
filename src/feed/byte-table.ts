// Remembers what was made of a byte sequence, so that the names and namespaces of a document, which
// are few, become strings once and are the same object ever after.

interface Entry<T> {
  readonly bytes: Uint8Array
  readonly value: T
  readonly next: Entry<T> | undefined
}

const SLOTS = 1_024
/** More sequences than this are forgotten and begun anew, so that memory stays bounded. */
const MOST = 2_000
/** Longer sequences are not remembered. */
const LONGEST = 1_000

/** The hash of a sequence is 0 before its first byte. */
export function hashed(hash: number, byte: number): number {
  return (Math.imul(hash, 31) + byte) | 0
}

export class ByteTable<T> {
  readonly #make: (text: string) => T
  #slots: Array<Entry<T> | undefined> = new Array(SLOTS).fill(undefined)
  #size = 0

  constructor(make: (text: string) => T) {
    this.#make = make
  }

  /** `hash`: of the bytes from `from` to `to`. */
  find(data: Buffer, from: number, to: number, hash: number): T {
    const slot = (hash ^ (hash >>> 12)) & (SLOTS - 1)
    let entry = this.#slots[slot]
    while (entry !== undefined) {
      if (entry.bytes.length === to - from && equal(entry.bytes, data, from)) return entry.value
      entry = entry.next
    }
    return this.#add(data, from, to, slot)
  }

  /** Whether it is time to call `forget`; what was found before is not the same afterwards. */
  get full(): boolean {
    return this.#size > MOST
  }

  forget(): void {
    this.#slots = new Array(SLOTS).fill(undefined)
    this.#size = 0
  }

  #add(data: Buffer, from: number, to: number, slot: number): T {
    const value = this.#make(data.toString('utf8', from, to))
    if (to - from > LONGEST) return value
    const bytes = Uint8Array.prototype.slice.call(data, from, to)
    this.#slots[slot] = { bytes, value, next: this.#slots[slot] }
    this.#size++
    return value
  }
}

/** Whether `data` has exactly these bytes at `at`. */
export function equal(bytes: Uint8Array, data: Uint8Array, at: number): boolean {
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== data[at + i]) return false
  return true
}
