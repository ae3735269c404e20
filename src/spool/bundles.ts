// Owns the files that small copies share. A new file and its fsync cost as much for twenty kB as for a
// megabyte, so copies that come while one is written go into the next together, each with its posting
// index behind it. Written once; it is there until no version needs any part of it.

import { randomUUID } from 'node:crypto'
import { closeSync, fsync, openSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { HeldCopy } from '../feed/port.ts'
import type { Clock } from '../lib/clock.ts'
import { NoRoom } from '../lib/no-room.ts'
import { giveToOwnerOf } from '../lib/owner.ts'
import { stretch } from '../lib/stretch.ts'
import { writeAll } from '../lib/write-all.ts'
import type { DirectorySync } from './directory-sync.ts'

interface Waiting {
  copy: HeldCopy
  resolve: (name: string) => void
  reject: (error: NoRoom) => void
}

const syncDescriptor = promisify(fsync)

/** One copy that stays keeps at most the others of its file from being given back. */
const MOST_COPIES = 16
/** For the company of what is read at this moment; short beside a disk's own time. */
const GATHER_MS = 4

export class Bundles {
  readonly #directory: string
  readonly #names: DirectorySync
  readonly #clock: Clock
  #waiting: Waiting[] = []
  #isWriting = false

  constructor(directory: string, names: DirectorySync, clock: Clock) {
    this.#directory = directory
    this.#names = names
    this.#clock = clock
  }

  /** The name of the copy, once that and its bytes are durable. Rejects with `NoRoom`, and nothing is left. */
  add(copy: HeldCopy): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    this.#waiting.push({ copy, resolve, reject })
    if (!this.#isWriting) void this.#writeAll()
    return promise
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true
    while (this.#waiting.length > 0) {
      if (this.#waiting.length < MOST_COPIES) await this.#clock.sleep(GATHER_MS)
      await this.#write(this.#waiting.splice(0, MOST_COPIES))
    }
    this.#isWriting = false
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    const bundle = `${randomUUID()}.bundle`
    const path = join(this.#directory, bundle)
    try {
      const names = await written(path, bundle, group)
      await this.#names.done()
      // All in the same turn: the rows of all are written before any of these copies can be given up again.
      for (const [n, name] of names.entries()) group[n]?.resolve(name)
    } catch (error) {
      // What cannot be removed on such a disk is swept at the next start.
      await rm(path, { force: true }).catch(() => {})
      const noRoom = new NoRoom('the copy', path, error)
      for (const { reject } of group) reject(noRoom)
    }
  }
}

async function written(path: string, bundle: string, group: readonly Waiting[]): Promise<string[]> {
  const descriptor = openSync(path, 'wx', 0o600)
  try {
    giveToOwnerOf(dirname(path), descriptor)
    let end = 0
    const names = group.map(({ copy: { bytes, index } }) => {
      const from = end
      for (const part of [bytes, index]) {
        writeAll(descriptor, part)
        end += part.length
      }
      return stretch(bundle, from, bytes.length)
    })
    await syncDescriptor(descriptor)
    return names
  } finally {
    closeSync(descriptor)
  }
}
