// Reads the files that people write for feedsyncd: configuration, keys, secrets, campaigns. Never waits, whatever
// the name stands for: a FIFO without a writer would hold the daemon for good.

import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { readWhole } from './read-whole.ts'
import { formatBytes } from './units.ts'

/** Bytes: longer than any PEM key, so that a wrong path to something big is an error. */
export const LONGEST_SECRET = 64 * 1024

/**
 * The bytes of a regular file.
 * @throws the system's error (`EISDIR` for a directory); an error without a code, whose message follows the
 * file's name, where it is no regular file, larger than `mostBytes`, or still being written
 */
export function readRegular(file: string, mostBytes: number): Buffer {
  const handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(handle)
    if (stats.isDirectory()) throw Object.assign(new Error('is a directory'), { code: 'EISDIR' })
    if (!stats.isFile()) throw new Error('is not a regular file')
    if (stats.size > mostBytes) throw new Error(`is larger than ${formatBytes(mostBytes)}`)
    const bytes = Buffer.alloc(stats.size + 1)
    const size = readWhole(handle, bytes, 0, bytes.length, 0)
    if (size !== stats.size) throw new Error('is still being written')
    return bytes.subarray(0, size)
  } finally {
    closeSync(handle)
  }
}

/** A secret as it was meant: one newline at its end is not part of it. */
export function withoutNewline(bytes: Buffer): Buffer {
  if (bytes.at(-1) !== 0x0a) return bytes
  return bytes.subarray(0, bytes.at(-2) === 0x0d ? -2 : -1)
}
