// Checks whether the disk of the state directory accepts writes. The daemon, `status --check` and `doctor` ask, so that
// people learn of a full disk before a write fails.

import { accessSync, constants, statfsSync } from 'node:fs'
import { errorCode } from '../lib/errors.ts'
import { formatBytes } from '../lib/units.ts'

/** In bytes. A disk with less free space counts as full, because SQLite needs some pages. */
const LEAST_FREE = 16 * 2 ** 20
/** A small disk counts as full only if less than this share of it is free, even if LEAST_FREE is more. */
const LEAST_SHARE = 0.02

/** whyDiskFull returns why the disk counts as full and what to do; null if it has space or cannot be asked. */
export function whyDiskFull(directory: string): { message: string; hint: string } | null {
  try {
    const { bavail, blocks, bsize, ffree, files } = statfsSync(directory)
    const free = bavail * bsize
    // Some file systems, such as file systems in user space, report a size of 0.
    const isFull = blocks > 0 && free < Math.min(LEAST_FREE, blocks * bsize * LEAST_SHARE)
    const hasNoInodes = files > 0 && ffree === 0
    if (!isFull && !hasNoInodes) return null
    const left = hasNoInodes ? 'no inode is left' : `${formatBytes(free)} are left`
    return {
      message: `the disk of ${directory} is full: ${left}`,
      hint: 'free space on that disk; feedsyncd continues automatically',
    }
  } catch {
    return null
  }
}

/**
 * whyDiskReadOnly returns why the state directory cannot be written and what to do, or null if its disk is not
 * read-only. Linux remounts some disks read-only after an error.
 */
export function whyDiskReadOnly(directory: string): { message: string; hint: string } | null {
  try {
    accessSync(directory, constants.W_OK)
    return null
  } catch (error) {
    if (errorCode(error) !== 'EROFS') return null
    const message = `the disk of ${directory} is read-only`
    return { message, hint: 'look at dmesg, then mount it writable' }
  }
}
