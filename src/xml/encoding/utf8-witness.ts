// Notices whether a document in an 8-bit encoding is really UTF-8. Text of an 8-bit encoding is practically never valid
// UTF-8. So a document declares the wrong encoding if all its characters beyond ASCII are valid UTF-8.

import { isAscii, isUtf8 } from 'node:buffer'
import { utf8Tail } from './decoder.ts'

export class Utf8Witness {
  /** #carried has the bytes of an incomplete character at the end of the last piece. */
  #carried: Buffer = Buffer.alloc(0)
  /** #hasOthers is true if a character beyond ASCII has come. */
  #hasOthers = false
  #isUtf8 = true

  /** write looks at the next bytes of the document. */
  write(piece: Buffer): void {
    if (!this.#isUtf8 || (this.#carried.length === 0 && isAscii(piece))) return
    this.#hasOthers = true
    const bytes = this.#carried.length === 0 ? piece : Buffer.concat([this.#carried, piece])
    const end = bytes.length - utf8Tail(bytes)
    this.#isUtf8 = isUtf8(bytes.subarray(0, end))
    // The rest is copied, because the next piece overwrites this memory.
    this.#carried = Buffer.from(bytes.subarray(end))
  }

  /** saysUtf8 returns true if the whole document has characters beyond ASCII, and all of them are valid UTF-8. */
  saysUtf8(): boolean {
    return this.#hasOthers && this.#isUtf8 && this.#carried.length === 0
  }
}
