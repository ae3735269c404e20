// Owns the token in a campaign's name: the mark by which a campaign is found again when the answer to its
// creation was lost. It follows from the identity and the key, never from the clock or an address.

import { createHash } from 'node:crypto'

/** Crockford's base 32: no letter can be mistaken for a digit. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TOKEN = /\[#([0-9a-hjkmnp-tv-z]{10})\]/i
/** How often a key may have been made anew and its campaign is still recognised. */
const GENERATIONS = 12

/** Ten characters (50 bits) of SHA-256 over identity, key and, from the second on, generation. */
export function tokenOf(identity: string, key: string, generation = 1): string {
  const again = generation === 1 ? '' : `\0${generation}`
  const digest = createHash('sha256').update(`${identity}\0${key}${again}`).digest()
  let bits = digest.readBigUInt64BE() >> 14n
  let token = ''
  for (let n = 0; n < 10; n++) {
    token = ALPHABET.charAt(Number(bits & 31n)) + token
    bits >>= 5n
  }
  return token
}

/** The tokens that the campaigns of a key may carry, whichever database made them. */
export const tokensOf = (identity: string, key: string): string[] =>
  Array.from({ length: GENERATIONS }, (_, n) => tokenOf(identity, key, n + 1))

export const withToken = (name: string, token: string | null) =>
  token === null ? name : `${name} [#${token}]`

/** Anywhere in the name: a person may rename around it. */
export function tokenIn(name: unknown): string | null {
  return typeof name === 'string' ? (TOKEN.exec(name)?.[1]?.toLowerCase() ?? null) : null
}

/** Only its mark proves that a create made a campaign: a name alone may be that of an older one. */
export const hasSameMark = (sent: unknown, shown: unknown) =>
  tokenIn(sent) !== null && tokenIn(sent) === tokenIn(shown)

/** The name without its mark, also where the service cut it within the mark. */
export const bareName = (name: string) => name.replace(/\s*\[(#[^\]]*\]?)?\s*$/, '').trim()

/** A mark, whole or cut: somebody's reconciler made it. */
export const isMarked = (name: unknown) =>
  typeof name === 'string' && /\[#[0-9a-z]{0,10}\]?\s*$|\[#[0-9a-z]{10}\]/i.test(name)
