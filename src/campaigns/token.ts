// Owns the token in a campaign's name: the mark by which a campaign is found again when the answer to its
// creation was lost. It follows from identity alone, never from the clock.

import { createHash } from 'node:crypto'

/** Crockford's base 32: no letter can be mistaken for a digit. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TOKEN = /\[#([0-9a-hjkmnp-tv-z]{10})\]/

/** Ten characters (50 bits) of SHA-256 over account, key and, from the second on, generation. */
export function tokenOf(account: string, key: string, generation = 1): string {
  const again = generation === 1 ? '' : `\0${generation}`
  const digest = createHash('sha256').update(`${account}\0${key}${again}`).digest()
  let bits = digest.readBigUInt64BE() >> 14n
  let token = ''
  for (let n = 0; n < 10; n++) {
    token = ALPHABET.charAt(Number(bits & 31n)) + token
    bits >>= 5n
  }
  return token
}

export const withToken = (name: string, token: string) => `${name} [#${token}]`

/** Anywhere in the name: a person may rename around it. */
export function tokenIn(name: string | null | undefined): string | null {
  return TOKEN.exec(name ?? '')?.[1] ?? null
}
