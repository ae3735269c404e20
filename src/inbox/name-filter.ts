// Owns which names are passed over, and by which rule: what `explain` tells. Decides by name alone;
// what kind of file it is, is the listing's to find out.

import { globMatcher } from '../lib/glob.ts'
import type { Ignored } from './port.ts'
import { temporaryPattern } from './temporary-names.ts'

export interface NameFilter {
  /** Why a file of this path is passed over, or null. The user's own rules speak first. */
  ignored(path: string): Ignored | null
  /** Whether nothing below this directory can be a feed, so that it need not be listed. */
  prunes(directory: string): boolean
}

export function createNameFilter(patterns: {
  include: readonly string[]
  exclude: readonly string[]
}): NameFilter {
  const notIncluded = { rule: 'not-included', patterns: patterns.include } as const
  const include = patterns.include.map(globMatcher)
  const exclude = patterns.exclude.map((pattern) => ({ pattern, matches: globMatcher(pattern) }))
  // Only `dir/**` says something of all that is below; `*` matches a directory but not what is in it.
  const subtrees = exclude.filter(({ pattern }) => pattern.endsWith('/**'))

  const isHidden = (path: string) => path.startsWith('.') || path.includes('/.')

  return {
    ignored(path) {
      // Whatever is included, and also where receipts are written no more: each would get one of its own.
      if (path.endsWith('.receipt.json')) return { rule: 'receipt' }
      const excluded = exclude.find(({ matches }) => matches(path))
      if (excluded !== undefined) return { rule: 'excluded', pattern: excluded.pattern }
      const slash = path.lastIndexOf('/')
      if (slash !== -1 && isHidden(path.slice(0, slash))) {
        return { rule: 'temporary-name', pattern: '.*/**' }
      }
      const temporary = temporaryPattern(path.slice(slash + 1))
      if (temporary !== null) return { rule: 'temporary-name', pattern: temporary }
      return include.some((matches) => matches(path)) ? null : notIncluded
    },
    prunes(directory) {
      return isHidden(directory) || subtrees.some(({ matches }) => matches(directory))
    },
  }
}
