// A disk of its own file system, in a file of the temporary folder, for tests of what only some file systems can do.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'vitest'

const MAKE = {
  xfs: ['mkfs.xfs', '-q', '-m', 'reflink=1'],
  btrfs: ['mkfs.btrfs', '-q'],
  ext4: ['mkfs.ext4', '-q'],
}
export type FileSystem = keyof typeof MAKE

/** The answers of whyNoDisk so far. */
const answers = new Map<FileSystem, string | null>()

/** diskOf mounts a disk, or skips the test if this host cannot mount such disks. Throws if only this mount fails. */
export function diskOf(type: FileSystem, { skip }: TestContext): LoopDisk {
  if (!answers.has(type)) answers.set(type, whyNoDisk(type))
  const why = answers.get(type) ?? null
  return why === null ? new LoopDisk(type) : skip(why)
}

/** whyNoDisk returns why this host cannot mount such a disk; null if it can. It mounts one to find out. */
function whyNoDisk(type: FileSystem): string | null {
  if (process.getuid?.() !== 0) return 'only root may mount a disk'
  if (spawnSync(MAKE[type][0] ?? '', ['-V']).error !== undefined)
    return `${MAKE[type][0]} is missing: apt-get install xfsprogs btrfs-progs`
  try {
    new LoopDisk(type)[Symbol.dispose]()
    return null
  } catch (error) {
    return `this kernel cannot mount it: ${error}`
  }
}

export class LoopDisk implements Disposable {
  readonly #type: FileSystem
  readonly #root = mkdtempSync(join(tmpdir(), 'feedsyncd-disk-'))
  readonly #image = join(this.#root, 'image')
  readonly folder = join(this.#root, 'disk')

  /** The default size is just enough for XFS. Throws if the disk cannot be mounted. */
  constructor(type: FileSystem, bytes = 320 * 2 ** 20) {
    const [make = '', ...flags] = MAKE[type]
    this.#type = type
    mkdirSync(this.folder)
    writeFileSync(this.#image, '')
    truncateSync(this.#image, bytes)
    try {
      execFileSync(make, [...flags, this.#image], { stdio: 'pipe' })
      this.mount()
    } catch (error) {
      this[Symbol.dispose]()
      throw error
    }
  }

  mount(): void {
    execFileSync('mount', ['-o', 'loop', this.#image, this.folder], { stdio: 'pipe' })
  }

  unmount(): void {
    execFileSync('umount', [this.folder], { stdio: 'pipe' })
  }

  /** makeFolder makes a folder; on Btrfs a subvolume, as distributions have one for `/srv` and one for `/var`. */
  makeFolder(name: string): void {
    const folder = join(this.folder, name)
    if (this.#type !== 'btrfs') mkdirSync(folder)
    else execFileSync('btrfs', ['subvolume', 'create', folder], { stdio: 'pipe' })
  }

  /** fill writes a file that leaves room for this many bytes. */
  fill(room: number): void {
    const { bavail, bsize } = statfsSync(this.folder)
    const bytes = String(bavail * bsize - room)
    execFileSync('fallocate', ['-l', bytes, join(this.folder, 'ballast')], { stdio: 'pipe' })
  }

  /** cutPower loses everything that is not yet durable; the disk must be unmounted next. Only for XFS. */
  cutPower(): void {
    execFileSync('xfs_io', ['-x', '-c', 'shutdown', this.folder], { stdio: 'pipe' })
  }

  [Symbol.dispose](): void {
    spawnSync('umount', ['-l', this.folder])
    rmSync(this.#root, { recursive: true, force: true })
  }
}
