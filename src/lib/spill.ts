// Keeps texts that might not fit into memory: the first ones in memory, more of them in a file that has no name, so
// that nothing is left behind.

import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Texts of this many bytes in memory are written to the file. */
const IN_MEMORY = 2 ** 20
const PIECE = 65_536

/** Spilled is the position and length of a text, in bytes. */
interface Spilled {
  at: number
  length: number
}

export class Spill implements Disposable {
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #written = 0
  #fd: number | null = null

  /** append stores a text. Throws the system's error if the temporary folder has no room. */
  append(text: string): Spilled {
    const bytes = Buffer.from(text)
    const place = { at: this.#written + this.#waitingBytes, length: bytes.length }
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    if (this.#waitingBytes >= IN_MEMORY) this.#flush()
    return place
  }

  read(place: Spilled): string {
    return this.#bytes(place).toString()
  }

  /** lines yields the stored text line by line, without what follows the last newline. */
  *lines(): Generator<string, void, void> {
    const end = this.#written + this.#waitingBytes
    let rest: Buffer = Buffer.alloc(0)
    for (let at = 0; at < end; at += PIECE) {
      const piece = this.#bytes({ at, length: Math.min(PIECE, end - at) })
      const bytes = Buffer.concat([rest, piece])
      const last = bytes.lastIndexOf('\n') + 1
      if (last > 0) yield* bytes.toString('utf8', 0, last - 1).split('\n')
      rest = bytes.subarray(last)
    }
  }

  [Symbol.dispose](): void {
    if (this.#fd !== null) closeSync(this.#fd)
    this.#fd = null
    this.#waiting = []
  }

  #bytes({ at, length }: Spilled): Buffer {
    const inFile = Math.max(0, Math.min(length, this.#written - at))
    const bytes = Buffer.allocUnsafe(length)
    for (let done = 0; done < inFile; )
      done += readSync(this.#fd as number, bytes, done, inFile - done, at + done)
    const from = at + inFile - this.#written
    if (inFile < length) this.#whole().copy(bytes, inFile, from, from + length - inFile)
    return bytes
  }

  #flush(): void {
    const bytes = this.#whole()
    this.#fd ??= unnamedFile()
    for (let done = 0; done < bytes.length; )
      done += writeSync(this.#fd, bytes, done, bytes.length - done, this.#written + done)
    this.#written += bytes.length
    this.#waiting = []
    this.#waitingBytes = 0
  }

  /** #whole joins the texts in memory. */
  #whole(): Buffer {
    const [first] = this.#waiting
    if (this.#waiting.length === 1 && first !== undefined) return first
    const whole = Buffer.concat(this.#waiting)
    this.#waiting = [whole]
    return whole
  }
}

function unnamedFile(): number {
  const folder = mkdtempSync(join(tmpdir(), 'feedsyncd-'))
  try {
    return openSync(join(folder, 'spill'), 'wx+', 0o600)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
