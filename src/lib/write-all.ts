import { writeSync } from 'node:fs'

/** Writes all of it, however little the system takes at a time: at `begin`, or where the file stands. Throws the system's error. */
export function writeAll(descriptor: number, bytes: Uint8Array, begin: number | null = null): void {
  for (let at = 0; at < bytes.length; ) {
    const place = begin === null ? null : begin + at
    at += writeSync(descriptor, bytes, at, bytes.length - at, place)
  }
}
