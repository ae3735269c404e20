// A read may answer fewer bytes than there are: networks and file systems in user space do so.

import { readSync } from 'node:fs'

/** Bytes that were read into `memory` from `offset` on, fewer than `length` only at the end of the file. Throws the system's error. */
export function readWhole(
  fd: number,
  memory: Uint8Array,
  offset: number,
  length: number,
  at: number,
): number {
  let done = 0
  while (done < length) {
    const read = readSync(fd, memory, offset + done, length - done, at + done)
    if (read === 0) break
    done += read
  }
  return done
}
