// A disk for a site's state that a test can fill: a small tmpfs if this user may mount one. Otherwise the tested
// process gets a limit for the size of its files, which also makes its writes fail.

import { type ChildProcess, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'vitest'
import { errorCode } from '../../src/lib/errors.ts'

/** mountedDisk mounts a disk at a folder that must not exist yet, or skips the test if this user may not mount one. */
export function mountedDisk(folder: string, { skip }: TestContext): SmallDisk {
  const disk = new SmallDisk(folder)
  skip(!disk.isMounted, 'this user may not mount a tmpfs')
  return disk
}

export class SmallDisk implements Disposable {
  readonly folder: string
  readonly #ballast: string
  /** False if this user may not mount a tmpfs. */
  readonly isMounted: boolean

  /** The folder must not exist yet. */
  constructor(folder: string) {
    this.folder = folder
    this.#ballast = join(folder, 'ballast')
    mkdirSync(folder)
    this.isMounted = ran('mount', '-t', 'tmpfs', '-o', 'size=4m', 'feedsyncd', this.folder)
  }

  /** fill leaves room for this many bytes; `daemon` is the process that writes to the disk. */
  fill(daemon: Pick<ChildProcess, 'pid'>, room = 0): void {
    if (this.isMounted) this.#occupy(room)
    else limit(daemon, String(Math.max(room, 4096)))
  }

  /** free ends what `fill` did. */
  free(daemon: Pick<ChildProcess, 'pid'>): void {
    if (this.isMounted) rmSync(this.#ballast)
    else limit(daemon, 'unlimited')
  }

  /** canBeReadOnly is false for root without a mount, because root ignores the mode of directories. */
  get canBeReadOnly(): boolean {
    return this.isMounted || process.getuid?.() !== 0
  }

  /** make changes the disk; no process may have a file open on it. */
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
      // The daemon writes at the same time. A full disk is what the test wants.
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
