// Finds feeds whose names look alike: copies, and exports whose names differ only in numbers or in a time. No guard
// compares such feeds with each other, none of them supersedes another, and the spool keeps a copy of each.

import { howAlike, isCopy, likenessOf, rulesFor } from '../../domain/likeness.ts'
import { excludeLine } from '../../lib/glob.ts'
import { limited } from '../../lib/limited.ts'
import { countOf } from '../../lib/units.ts'
import { type CheckAnswer, ok, warning } from './finding.ts'

/** A day such as 20261123 or 2026-11-23, or seconds since 1970. A time can follow. */
const TIME = /(?:(?:19|20)\d\d([-_.]?)[01]\d\1[0-3]\d|\d{10,13})(?:[T_.:-]?\d+)*Z?/
/** How many feeds of dated files the sentence names. */
const MOST_NAMED = 3
/** This many feeds below dated folders are reported. Fewer can be chance. */
const LEAST_DATED = 3

/**
 * checkNames judges `names`, the feeds that are named after their path. `joined` has the files of each feed whose file
 * names have dates.
 */
export function checkNames(
  names: readonly string[],
  joined: ReadonlyMap<string, readonly string[]> = new Map(),
): CheckAnswer {
  return alikeNames(names) ?? datedFolders(names) ?? ok(joinedText(joined))
}

/** largest returns the largest group of names for which `keyOf` returns the same text. */
function largest(names: readonly string[], keyOf: (name: string) => string): readonly string[] {
  const groups = [...Map.groupBy(names.toSorted(), keyOf).values()]
  return groups.toSorted((a, b) => b.length - a.length)[0] ?? []
}

function alikeNames(names: readonly string[]): CheckAnswer | null {
  const alike = largest(names, (name) => likenessOf({ feed: name, path: name }))
  const [first, second] = alike
  if (first === undefined || second === undefined) return null
  const which = alike.length === 2 ? 'the feeds' : `${countOf(alike.length)} feeds such as`
  const says = `${which} ${first} and ${second} have names that look alike: no guard compares one feed with the other`
  if (howAlike(second, first) !== 'numbers') {
    const fix = `remove the copy, or set ${excludeLine([isCopy(first) ? first : second])} under inbox`
    return warning(says, fix)
  }
  const { each, one } = rulesFor(second, first)
  return warning(says, `for exports of one feed, set ${one}; if each is a feed of its own: ${each}`)
}

function datedFolders(names: readonly string[]): CheckAnswer | null {
  const isDated = (name: string) => TIME.test(name.slice(0, name.lastIndexOf('/') + 1))
  const dated = largest(names.filter(isDated), (name) => name.replace(TIME, '*'))
  const [first = ''] = dated
  if (dated.length < LEAST_DATED) return null
  const match = first.replace(TIME, '*')
  const name = match
    .replace(/\.xml$/i, '')
    .replace('*', '')
    .replace(/^[-_./]+|[-_./]+$/g, '')
  return warning(
    `${countOf(dated.length)} feeds such as ${first} differ only by a date: no guard compares a file with the file before it`,
    `make them one feed: feeds: [{ match: "${match}", name: "${name || 'jobs'}" }]`,
  )
}

function joinedText(joined: ReadonlyMap<string, readonly string[]>): string {
  const feeds = [...joined].filter(([, files]) => files.length > 1)
  if (feeds.length === 0) return 'no two feeds have names that look alike'
  const texts = feeds.map(
    ([feed, files]) => `${feed} (${files.length} files, the last ${files[0]})`,
  )
  return `feeds whose files have a date in their names: ${limited(texts, MOST_NAMED).join(', ')}`
}
