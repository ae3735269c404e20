// Finds the name for "did you mean": the known name that is closest to a misspelt name.

import leven from 'leven'

/**
 * nearest returns the closest name at a distance of at most a third of its length, otherwise the only name with the
 * same beginning; null if no name is near.
 */
export function nearest(name: string, names: Iterable<string>): string | null {
  const [best] = [...names]
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.distance - b.distance)
  return best?.candidate ?? beginningWith(name, [...names])
}

/** beginningWith finds `endDate` for `end` and `stateProvCodes` for `states`; null unless one name alone begins so. */
function beginningWith(name: string, names: readonly string[]): string | null {
  const start = name.toLowerCase().replace(/s$/, '')
  const found = names.filter((one) => start.length >= 3 && one.toLowerCase().startsWith(start))
  return found.length === 1 ? (found[0] ?? null) : null
}

/** editDistance ignores case, underscores and dashes. */
function editDistance(a: string, b: string): number {
  const plain = (word: string) => word.toLowerCase().replace(/[_-]/g, '')
  return leven(plain(a), plain(b))
}
