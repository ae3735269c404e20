// Where a posting index is written to and read from: a file of its own, memory, or for reading the stretch
// of a bundle that begins behind its copy.

import { closeSync, fstatSync, openSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { translated } from '../lib/no-room.ts'
import { giveToOwnerOf } from '../lib/owner.ts'
import { readWhole } from '../lib/read-whole.ts'
import { stretchOf } from '../lib/stretch.ts'
import { writeAll } from '../lib/write-all.ts'

const WHAT = 'the posting index'

export interface IndexTarget {
  /** Throws `NoRoom`. */
  write(bytes: Uint8Array, begin: number): void
  close(): void
  /** Takes away what was written, closed or not. */
  discard(): void
}

export class IndexFile implements IndexTarget {
  readonly #path: string
  readonly #fd: number
  #closed = false

  /** Throws `NoRoom`; a file that is there already is left alone. */
  constructor(path: string) {
    this.#path = path
    this.#fd = translated(WHAT, path, () => openSync(path, 'wx', 0o600))
    giveToOwnerOf(dirname(path), this.#fd)
  }

  write(bytes: Uint8Array, begin: number): void {
    translated(WHAT, this.#path, () => {
      writeAll(this.#fd, bytes, begin)
    })
  }

  close(): void {
    if (!this.#closed) closeSync(this.#fd)
    this.#closed = true
  }

  discard(): void {
    this.close()
    rmSync(this.#path, { force: true })
  }
}

/** Of a small feed. */
export class HeldIndex implements IndexTarget {
  bytes = new Uint8Array(0)

  write(bytes: Uint8Array, begin: number): void {
    const end = begin + bytes.length
    if (end > this.bytes.length) {
      const longer = new Uint8Array(end)
      longer.set(this.bytes)
      this.bytes = longer
    }
    this.bytes.set(bytes, begin)
  }

  close(): void {}

  discard(): void {}
}

export interface IndexSource extends Disposable {
  /** Whether it can hold an index of so many bytes. */
  fits(bytes: number): boolean
  /** Fills `memory` from `at` on; answers how many bytes there were. Throws the system's error. */
  read(memory: Uint8Array, at: number): number
}

/** Throws the system's error. */
export function indexSource(place: string | Uint8Array): IndexSource {
  return typeof place === 'string' ? fileSource(place) : heldSource(place)
}

function fileSource(path: string): IndexSource {
  const { file, from } = stretchOf(path)
  const fd = openSync(file, 'r')
  const size = fstatSync(fd).size - from
  return {
    // Behind the index in a bundle there is the next copy.
    fits: (bytes) => (file === path ? size === bytes : size >= bytes),
    read: (memory, at) => readWhole(fd, memory, 0, memory.length, from + at),
    [Symbol.dispose]: () => closeSync(fd),
  }
}

function heldSource(held: Uint8Array): IndexSource {
  return {
    fits: (bytes) => held.length === bytes,
    read: (memory, at) => {
      const found = held.subarray(at, at + memory.length)
      memory.set(found)
      return found.length
    },
    [Symbol.dispose]: () => {},
  }
}
