// Hashes the parts of a posting: its attributes, and the elements directly in it. So the parts of two versions of a
// posting can be compared without keeping the postings.

import { crc32 } from 'node:zlib'
import type { Attributes } from '../xml/handler.ts'

/** MOST_PARTS limits the different names of parts in one posting. Parts with further names are left out. */
const MOST_PARTS = 1_000

export class PostingParts {
  /** #hashes has the CRC-32 of each part by the name of the part: `city`, `@id`. Elements of one name share a hash. */
  readonly #hashes = new Map<string, number>()
  #name = ''
  /** #from is where the unhashed bytes of the open part begin in `data`; null outside of parts. */
  #from: number | null = null

  /** begin hashes the attributes of the posting. */
  begin(attributes: Attributes): void {
    for (let i = 0; i < attributes.count; i++)
      this.#add(`@${attributes.nameAt(i).text}`, Buffer.from(attributes.valueAt(i)))
  }

  open(name: string, from: number): void {
    this.#name = name
    this.#from = from
  }

  close(data: Buffer, to: number): void {
    this.moving(data, to)
    this.#from = null
  }

  /** moving hashes the bytes up to `to` before the caller moves the others to the beginning of `data`. */
  moving(data: Buffer, to: number): void {
    if (this.#from === null) return
    this.#add(this.#name, data.subarray(this.#from, to))
    this.#from = 0
  }

  clear(): void {
    this.#hashes.clear()
  }

  entries(): [name: string, hash: number][] {
    return [...this.#hashes]
  }

  #add(name: string, bytes: Uint8Array): void {
    const known = this.#hashes.get(name)
    if (known === undefined && this.#hashes.size === MOST_PARTS) return
    this.#hashes.set(name, crc32(bytes, known))
  }
}
