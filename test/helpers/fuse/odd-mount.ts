// Mounts a FUSE file system that behaves oddly (odd-mount.c). It needs root, /dev/fuse, a C compiler and libfuse3.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../eventually.ts'

/** Why this host cannot mount the file system; null if it can. */
export const NO_FUSE = whyNoFuse()

function whyNoFuse(): string | null {
  if (process.getuid?.() !== 0) return 'only root may mount'
  if (!existsSync('/dev/fuse')) return 'there is no /dev/fuse'
  const library = spawnSync('pkg-config', ['--exists', 'fuse3'])
  return library.status === 0 ? null : 'there is no libfuse3 (apt install libfuse3-dev pkg-config)'
}

type Rule =
  | 'path-inodes'
  | 'jitter-mtime'
  | 'jitter-inode'
  | 'mtime'
  | 'hang-list'
  | 'hang-read'
  | 'busy'

export class OddMount implements AsyncDisposable {
  /** The directory that the mount shows. */
  readonly base: string
  readonly #root = mkdtempSync(join(tmpdir(), 'feedsyncd-odd-'))
  readonly #at: string
  readonly #server: ChildProcess

  private constructor(at: string) {
    this.#at = at
    this.base = join(this.#root, 'base')
    mkdirSync(this.base)
    mkdirSync(join(this.#root, 'rules'))
    const program = join(this.#root, 'odd-mount')
    const flags = execFileSync('pkg-config', ['--cflags', '--libs', 'fuse3']).toString().trim()
    const source = join(import.meta.dirname, 'odd-mount.c')
    execFileSync('cc', ['-O1', '-w', '-o', program, source, ...flags.split(/\s+/), '-pthread'])
    this.#server = spawn(program, [this.base, join(this.#root, 'rules'), at], { stdio: 'ignore' })
  }

  /** at mounts at an existing directory. */
  static async at(directory: string): Promise<OddMount> {
    const before = statSync(directory).dev
    const mount = new OddMount(directory)
    await eventually(() => {
      if (statSync(directory).dev === before) throw new Error('not mounted yet')
    })
    return mount
  }

  set(rule: Rule, content = ''): void {
    writeFileSync(join(this.#root, 'rules', rule), content)
  }

  clear(rule: Rule): void {
    rmSync(join(this.#root, 'rules', rule), { force: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    rmSync(join(this.#root, 'rules'), { recursive: true })
    execFileSync('umount', ['-l', this.#at])
    this.#server.kill('SIGKILL')
    rmSync(this.#root, { recursive: true, force: true })
  }
}
