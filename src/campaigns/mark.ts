// Owns the mark in a campaign's name, by which a campaign is found again when the answer to its create was lost.
// It follows from the identity and the key alone, so that neither a lost database nor a new address changes it.

import { createHash } from 'node:crypto'

/** Crockford's base 32: no letter can be mistaken for a digit. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const MARK = /\s*\[#([0-9a-hjkmnp-tv-z]{10})\]/i

/** Ten characters: 50 bits of SHA-256 over identity and key. */
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

/** The mark anywhere in a name, since a person may rename around it; null: there is none. */
export function markIn(name: unknown): string | null {
  return typeof name === 'string' ? (MARK.exec(name)?.[1]?.toLowerCase() ?? null) : null
}

/** The name without its mark, also where the service cut it within the mark. */
export const nameWithoutMark = (name: string) =>
  name
    .replace(MARK, '')
    .replace(/\s*\[(#[^\]]*\]?)?\s*$/, '')
    .trim()
