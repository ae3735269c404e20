// The names that say that an element is a posting, or might be a posting.

import { wordsFor } from './languages.ts'
import { folded, localName, parts } from './names.ts'

const ENGLISH = `job jobad jobadvert joboffer jobposting joblisting jobpositionposting position
  positionopening vacancy posting ad opening`

/** POSTING_NAMES mean a posting at any place, even at the root. */
export const POSTING_NAMES: readonly string[] = [
  ...new Set([...ENGLISH.split(/\s+/), ...wordsFor('posting')]),
]

/** WEAK_NAMES mean a posting only when nothing around them repeats. */
export const WEAK_NAMES = ['item', 'entry', 'record', 'row', 'listing', 'offer', 'advert'] as const

const STRONG: ReadonlySet<string> = new Set(POSTING_NAMES.map(folded))
const WEAK: ReadonlySet<string> = new Set(WEAK_NAMES)
/** LONGEST_PLURAL is how many characters longer than its singular a plural can be. */
const LONGEST_PLURAL = 2

export function isStrong(name: string): boolean {
  return STRONG.has(localName(name))
}

export function isWeak(name: string): boolean {
  return WEAK.has(localName(name))
}

/** isCompound returns true for a name of several words, one of which means a posting, such as `open_position`. */
export function isCompound(name: string): boolean {
  const words = parts(name)
  return words.length > 1 && words.some((word) => STRONG.has(word) || word === 'offer')
}

/**
 * isOneOf returns true if `outer` looks like the plural of `inner`, as in `jobs` and `job`, or `ofertas` and `oferta`.
 */
export function isOneOf(inner: string, outer: string): boolean {
  const [ones, several] = [parts(inner), parts(outer)]
  if (ones.length !== several.length) return false
  const isSame = ones.every((one, i) => {
    const word = several[i] ?? ''
    return word.startsWith(one.slice(0, -1)) && word.length - one.length <= LONGEST_PLURAL
  })
  return isSame && localName(inner) !== localName(outer)
}
