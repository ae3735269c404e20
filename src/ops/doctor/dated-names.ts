// Finds exports whose names differ only by a time and which are still different feeds. Then no guard compares an export
// with the previous one, none supersedes another, and the spool keeps a copy of each.

import { datedName } from '../../lib/dated-name.ts'
import { limited } from '../../lib/limited.ts'
import { type Answer, ok, warning } from './finding.ts'

/** A day such as 20261123 or 2026-11-23, or seconds since 1970. A time may follow. */
const TIME = /(?:(?:19|20)\d\d([-_.]?)[01]\d\1[0-3]\d|\d{10,13})(?:[T_.:-]?\d+)*Z?/
/** How many feeds of dated files the sentence names. */
const MOST = 3
/** Two such names may be chance. */
const LEAST = 3

/** checkNames gets the feeds named by their path, and `joined`: the files of each feed whose names have dates. */
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
    `${dated.length} feeds such as ${dated[0]} differ only by a date: no guard compares one with the previous one`,
    `make them one feed: feeds: [{ match: "${match}", name: "${name}" }]`,
  )
}

function joinedText(joined: ReadonlyMap<string, readonly string[]>): string {
  const feeds = [...joined].filter(([, files]) => files.length > 1)
  if (feeds.length === 0) return 'no feeds differ only by a date in their names'
  const texts = feeds.map(
    ([feed, files]) => `${feed} (${files.length} files, the last ${files[0]})`,
  )
  return `feeds whose files have a date in their names: ${limited(texts, MOST).join(', ')}`
}
