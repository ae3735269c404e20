// Owns the mark in a campaign's name. By its mark we find a campaign again if the answer to its creation was lost. The
// mark is made from the identity and the key alone, so it stays the same with a new database or a new address.

import { createHash } from 'node:crypto'

/** Crockford's base 32: no letter can be mistaken for a digit. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const LENGTH = 10
const MARK = /\s*\[#([0-9a-hjkmnp-tv-z]{10})\]/i

/** markOf returns the mark of a key, in ten characters: 50 bits of SHA-256 over identity and key. */
export function markOf(identity: string, key: string): string {
  const digest = createHash('sha256').update(`${identity}\0${key}`).digest()
  let bits = digest.readBigUInt64BE() >> 14n
  let mark = ''
  for (let n = 0; n < LENGTH; n++) {
    mark = ALPHABET.charAt(Number(bits & 31n)) + mark
    bits >>= 5n
  }
  return mark
}

export const withMark = (name: string, mark: string | null) =>
  mark === null ? name : `${name} [#${mark}]`

/** markIn returns the mark in a name; null if the name has no mark in brackets. Use `hasMark` for a known mark. */
export function markIn(name: unknown): string | null {
  return typeof name === 'string' ? (MARK.exec(name)?.[1]?.toLowerCase() ?? null) : null
}

/** hasMark returns whether a name has a mark, also without its brackets: a service might drop or escape them. */
export const hasMark = (name: unknown, mark: string) =>
  typeof name === 'string' && name.toLowerCase().includes(mark)

/** markOn returns our mark if the name has it, else the mark in brackets, which another key or installation made. */
export const markOn = (name: unknown, ours: string) => (hasMark(name, ours) ? ours : markIn(name))

/** possibleMarks returns every text in a name that `hasMark` could find. */
export function possibleMarks(name: unknown): Set<string> {
  const found = new Set<string>()
  if (typeof name !== 'string') return found
  for (const [run] of name.toLowerCase().matchAll(/[0-9a-hjkmnp-tv-z]{10,}/g))
    for (let at = 0; at + LENGTH <= run.length; at++) found.add(run.slice(at, at + LENGTH))
  return found
}

/** The brackets around a mark, also escaped ones. */
const BEFORE = /(?:\s|[[({<#]|&#?\w+;|%[0-9a-f]{2})+$/i
const AFTER = /^(?:[\])}>]|&#?\w+;|%[0-9a-f]{2})+/i

/**
 * nameWithoutMark removes the mark from a name, even if the service cut the name inside the mark. If the mark is
 * `known`, it is also removed without its brackets.
 */
export function nameWithoutMark(name: string, known: string | null = null): string {
  const at = known === null ? -1 : name.toLowerCase().indexOf(known)
  const rest =
    at === -1
      ? name.replace(MARK, '')
      : name.slice(0, at).replace(BEFORE, '') + name.slice(at + LENGTH).replace(AFTER, '')
  return rest.replace(/\s*\[(#[^\]]*\]?)?\s*$/, '').trim()
}

/**
 * nameWithoutAnyMark also removes a mark without brackets whose key is not known: a word of ten characters that a mark
 * can have, with at least one digit.
 */
export function nameWithoutAnyMark(name: string): string {
  const text = name.toLowerCase()
  const marks = [...text.matchAll(/(?<![0-9a-z])[0-9a-hjkmnp-tv-z]{10}(?![0-9a-z])/g)]
  const mark = marks.map(([one]) => one).find((one) => /\d/.test(one))
  return nameWithoutMark(name, mark ?? null)
}
