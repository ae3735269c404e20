// A disk for a site's state that a test can fill: a small tmpfs of its own where this user may mount one.
// Elsewhere the process under test gets a limit on the size of its files, which its writes run into alike.

import { type ChildProcess, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../../src/lib/errors.ts'

export class SmallDisk implements Disposable {
  readonly folder: string
  readonly #ballast: string
  /** False where this user may not mount one. */
  readonly isMounted: boolean

  /** At the folder, which is not there yet. */
  constructor(folder: string) {
    this.folder = folder
    this.#ballast = join(folder, 'ballast')
    mkdirSync(folder)
    this.isMounted = ran('mount', '-t', 'tmpfs', '-o', 'size=4m', 'feedsyncd', this.folder)
  }

  /** Leaves room for this many bytes. `daemon`: what writes on it. */
  fill(daemon: Pick<ChildProcess, 'pid'>, room = 0): void {
    if (this.isMounted) this.#occupy(room)
    else limit(daemon, String(Math.max(room, 4096)))
  }

  free(daemon: Pick<ChildProcess, 'pid'>): void {
    if (this.isMounted) rmSync(this.#ballast)
    else limit(daemon, 'unlimited')
  }

  /** Root ignores every directory's mode. */
  get canBeReadOnly(): boolean {
    return this.isMounted || process.getuid?.() !== 0
  }

  /** Nobody may have a file open on it. */
  make(how: 'read-only' | 'writable'): void {
    const isReadOnly = how === 'read-only'
    if (this.isMounted) ran('mount', '-o', `remount,${isReadOnly ? 'ro' : 'rw'}`, this.folder)
    else chmodSync(this.folder, isReadOnly ? 0o555 : 0o755)
  }

  #occupy(room: number): void {
    const { bavail, bsize } = statfsSync(this.folder)
    try {
      writeFileSync(this.#ballast, Buffer.alloc(bavail * bsize - room))
    } catch (error) {
      // The daemon writes at the same time; full is what was wanted.
      if (errorCode(error) !== 'ENOSPC') throw error
    }
  }

  [Symbol.dispose](): void {
    if (this.isMounted) ran('umount', '-l', this.folder)
  }
}

function limit(daemon: Pick<ChildProcess, 'pid'>, bytes: string): void {
  ran('prlimit', '--pid', String(daemon.pid), `--fsize=${bytes}:`)
}

function ran(command: string, ...parameters: string[]): boolean {
  return spawnSync(command, parameters, { stdio: 'ignore' }).status === 0
}
