// CRC-32 of the parts of a document that matter. Parts that stand beside each other are taken as one,
// and small ones are gathered, because a call of the platform's CRC costs as much as some hundred bytes.

import { crc32 } from 'node:zlib'

const ROOM = 16_384
/** Longer parts are not gathered. */
const LONG = 8_192
/** Longer parts are copied by the platform. */
const WALKED = 40

export class ContentHash {
  readonly #gathered = Buffer.allocUnsafeSlow(ROOM)
  #length = 0
  #crc = 0
  /** The part that may still grow: bytes `#from` to `#to` of `#data`. */
  #data: Buffer = this.#gathered
  #from = -1
  #to = -1

  /** The bytes must not change before `settle`. */
  add(data: Buffer, from: number, to: number): void {
    if (from !== this.#to) {
      this.settle()
      this.#data = data
      this.#from = from
    }
    this.#to = to
  }

  /** Takes in what was added: its memory may change now. */
  settle(): void {
    const data = this.#data
    const length = this.#to - this.#from
    if (length > LONG || this.#length + length > ROOM) this.#flush()
    if (length > LONG) this.#crc = crc32(data.subarray(this.#from, this.#to), this.#crc)
    else if (length > WALKED) {
      data.copy(this.#gathered, this.#length, this.#from, this.#to)
      this.#length += length
    } else {
      const gathered = this.#gathered
      const end = this.#to
      let to = this.#length
      for (let at = this.#from; at < end; at++) gathered[to++] = data[at] as number
      this.#length = to
    }
    this.#from = this.#to = -1
  }

  /** The hash of everything since the last call. */
  digest(): number {
    this.settle()
    this.#flush()
    const crc = this.#crc
    this.#crc = 0
    return crc
  }

  #flush(): void {
    if (this.#length === 0) return
    this.#crc = crc32(this.#gathered.subarray(0, this.#length), this.#crc)
    this.#length = 0
  }
}
