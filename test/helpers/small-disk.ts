// A disk for a site's state that a test can fill: a small tmpfs of its own where this user may mount one.
// Elsewhere the process under test gets a limit on the size of its files, which its writes run into alike.

import { type ChildProcess, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../../src/lib/errors.ts'
import type { Site } from './site.ts'

export class SmallDisk implements Disposable {
  readonly #folder: string
  readonly #ballast: string
  readonly #mounted: boolean

  /** Under the state directory, before anything is in it. */
  constructor(site: Site) {
    this.#folder = join(site.root, 'state')
    this.#ballast = join(this.#folder, 'ballast')
    mkdirSync(this.#folder)
    this.#mounted = ran('mount', '-t', 'tmpfs', '-o', 'size=4m', 'feedsyncd', this.#folder)
  }

  /** Leaves room for this many bytes. */
  fill(daemon: ChildProcess, room = 0): void {
    if (this.#mounted) this.#occupy(room)
    else limit(daemon, String(Math.max(room, 4096)))
  }

  free(daemon: ChildProcess): void {
    if (this.#mounted) rmSync(this.#ballast)
    else limit(daemon, 'unlimited')
  }

  /** Nobody may have a file open on it. Without a mount: the directory's mode, which root does not heed. */
  make(how: 'read-only' | 'writable'): void {
    const isReadOnly = how === 'read-only'
    if (this.#mounted) ran('mount', '-o', `remount,${isReadOnly ? 'ro' : 'rw'}`, this.#folder)
    else chmodSync(this.#folder, isReadOnly ? 0o555 : 0o755)
  }

  #occupy(room: number): void {
    const { bavail, bsize } = statfsSync(this.#folder)
    try {
      writeFileSync(this.#ballast, Buffer.alloc(bavail * bsize - room))
    } catch (error) {
      // The daemon writes at the same time; full is what was wanted.
      if (errorCode(error) !== 'ENOSPC') throw error
    }
  }

  [Symbol.dispose](): void {
    if (this.#mounted) ran('umount', '-l', this.#folder)
  }
}

function limit(daemon: ChildProcess, bytes: string): void {
  ran('prlimit', '--pid', String(daemon.pid), `--fsize=${bytes}:`)
}

function ran(command: string, ...parameters: string[]): boolean {
  return spawnSync(command, parameters, { stdio: 'ignore' }).status === 0
}
