// Owns the mark in a campaign's name. By its mark we find a campaign again if the answer to its create was lost. The
// mark is made from the identity and the key alone, so it stays the same with a new database or a new address.

import { createHash } from 'node:crypto'

/** Crockford's base 32: no letter can be mistaken for a digit. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const MARK = /\s*\[#([0-9a-hjkmnp-tv-z]{10})\]/i

/** markOf returns the mark of a key, in ten characters: 50 bits of SHA-256 over identity and key. */
export function markOf(identity: string, key: string): string {
  const digest = createHash('sha256').update(`${identity}\0${key}`).digest()
  let bits = digest.readBigUInt64BE() >> 14n
  let mark = ''
  for (let n = 0; n < 10; n++) {
    mark = ALPHABET.charAt(Number(bits & 31n)) + mark
    bits >>= 5n
  }
  return mark
}

export const withMark = (name: string, mark: string | null) =>
  mark === null ? name : `${name} [#${mark}]`

/** markIn finds the mark anywhere in a name, because a person may add text on both sides; null: the name has none. */
export function markIn(name: unknown): string | null {
  return typeof name === 'string' ? (MARK.exec(name)?.[1]?.toLowerCase() ?? null) : null
}

/** nameWithoutMark removes the mark from a name, even if the service cut the name inside the mark. */
export const nameWithoutMark = (name: string) =>
  name
    .replace(MARK, '')
    .replace(/\s*\[(#[^\]]*\]?)?\s*$/, '')
    .trim()
