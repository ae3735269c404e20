// CRC-32 of the bytes of a posting, from the first of its start tag to the last of its end tag.

import { crc32 } from 'node:zlib'

export class ContentHash {
  #crc = 0
  /** Where the bytes begin that are not in yet; null: no posting is open. */
  #from: number | null = null

  begin(from: number): void {
    this.#from = from
    this.#crc = 0
  }

  /** What follows `to` in `data` is about to stand at its beginning. */
  moving(data: Buffer, to: number): void {
    if (this.#from === null) return
    this.#take(data, this.#from, to)
    this.#from = 0
  }

  digest(data: Buffer, to: number): number {
    if (this.#from !== null) this.#take(data, this.#from, to)
    this.#from = null
    return this.#crc
  }

  #take(data: Buffer, from: number, to: number): void {
    if (to > from) this.#crc = crc32(data.subarray(from, to), this.#crc)
  }
}
