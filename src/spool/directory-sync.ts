// Owns when the names of a directory are durable: one fsync for all that were given before it began.

import { closeSync, fsync, openSync } from 'node:fs'
import { promisify } from 'node:util'

const syncDescriptor = promisify(fsync)

export class DirectorySync {
  readonly #path: string
  #last: Promise<void> = Promise.resolve()
  #next: Promise<void> | null = null

  constructor(path: string) {
    this.#path = path
  }

  /** Resolves when every name that the directory has now is durable; rejects with the system's error. */
  done(): Promise<void> {
    // One that runs may have begun before our name was given.
    this.#next ??= this.#last.then(() => this.#sync())
    return this.#next
  }

  #sync(): Promise<void> {
    this.#next = null
    const synced = fsyncDirectory(this.#path)
    this.#last = synced.catch(() => {})
    return synced
  }
}

async function fsyncDirectory(path: string): Promise<void> {
  const descriptor = openSync(path, 'r')
  try {
    await syncDescriptor(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
