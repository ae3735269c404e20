// Whether the disk of the state directory takes writes: looked at by the daemon, by `status --check` and by `doctor`, so
// that nobody has to wait for a write that fails.

import { accessSync, constants, statfsSync } from 'node:fs'
import { errorCode } from '../lib/errors.ts'
import { formatBytes } from '../lib/units.ts'

/** Less than this, or than this share of a small disk, is full: the history needs some pages to go on. */
const LEAST_FREE = 16 * 2 ** 20
const LEAST_SHARE = 0.02

/** Why nothing more can be written there, and what to do; null while it can, or nobody knows. */
export function fullDisk(directory: string): { message: string; hint: string } | null {
  try {
    const { bavail, blocks, bsize, ffree, files } = statfsSync(directory)
    const free = bavail * bsize
    // Some file systems, such as those in user space, do not say how large they are.
    const isFull = blocks > 0 && free < Math.min(LEAST_FREE, blocks * bsize * LEAST_SHARE)
    const hasNoInodes = files > 0 && ffree === 0
    if (!isFull && !hasNoInodes) return null
    const left = hasNoInodes ? 'no inode is left' : `${formatBytes(free)} are left`
    return {
      message: `the disk of ${directory} is full: ${left}`,
      hint: 'free space on that disk; feedsyncd goes on automatically',
    }
  } catch {
    return null
  }
}

/** The same of a disk that is read-only, such as one that the system has mounted so after an error. */
export function readOnlyDisk(directory: string): { message: string; hint: string } | null {
  try {
    accessSync(directory, constants.W_OK)
    return null
  } catch (error) {
    if (errorCode(error) !== 'EROFS') return null
    const message = `the disk of ${directory} is read-only`
    return { message, hint: 'mount it writable, after a look at dmesg' }
  }
}
