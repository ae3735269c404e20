// Exports with the time in their names: which are one feed, and which are not. Of the others each is a feed of its own, so
// that no guard compares it with the one before, none takes the place of another, and the spool keeps a copy of each.

import { datedName } from '../../lib/dated-name.ts'
import { limited } from '../../lib/limited.ts'
import { type Answer, ok, warning } from './finding.ts'

/** A day, such as 20261123 or 2026-11-23, or seconds since 1970; what follows may be the time. */
const TIME = /(?:(?:19|20)\d\d([-_.]?)[01]\d\1[0-3]\d|\d{10,13})(?:[T_.:-]?\d+)*Z?/
/** Joined feeds that are named. */
const MOST = 3
/** Two may be by chance. */
const LEAST = 3

/** `names`: of feeds that are called by their path; `joined`: the files of those that are told apart by dates. */
export function checkNames(
  names: readonly string[],
  joined: ReadonlyMap<string, readonly string[]> = new Map(),
): Answer {
  const groups = Map.groupBy(
    names.filter((name) => datedName(name).date === null && TIME.test(name)),
    (name) => name.replace(TIME, '*'),
  )
  const [largest] = [...groups].toSorted(([, a], [, b]) => b.length - a.length)
  if (largest === undefined || largest[1].length < LEAST) return ok(joinedText(joined))
  const [match, dated] = largest
  const name =
    match
      .replace(/\.xml$/i, '')
      .replace('*', '')
      .replace(/^[-_./]+|[-_./]+$/g, '') || 'jobs'
  return warning(
    `${dated.length} feeds such as ${dated[0]} differ by a date alone: no guard compares one with the one before`,
    `make them one feed: feeds: [{ match: "${match}", name: "${name}" }]`,
  )
}

function joinedText(joined: ReadonlyMap<string, readonly string[]>): string {
  const feeds = [...joined].filter(([, files]) => files.length > 1)
  if (feeds.length === 0) return 'no names differ by a date alone'
  const texts = feeds.map(
    ([feed, files]) => `${feed} (${files.length} files, the last ${files[0]})`,
  )
  return `a date in the name makes versions of one feed: ${limited(texts, MOST).join(', ')}`
}
