// Says which names of feeds look alike: copies of one file, and exports whose names differ only in numbers. Pure.

import { escapedGlob } from '../lib/glob.ts'
import { DATE, MONTH } from './dated-name.ts'
import { feedWithoutRule } from './feed-name.ts'

/** What programs add to the name of a copy. */
const MARKS = [
  // Dropbox, Nextcloud and Seafile: `jobs (Maria's conflicted copy 2026-11-28).xml`
  /[([][^)\]]*conflict[^)\]]*[)\]]/,
  // Syncthing and ownCloud: `jobs.sync-conflict-20261128-101500-ABCDEFG.xml`
  /[._ -](?:sync-)?conflict(?![a-z]).*$/,
  // Explorer and Finder: `Copy of jobs.xml`, `jobs - Copy (2).xml`, `jobs copy.xml`
  /^(?:(?:copy|copie|copia) (?:of|de)|kopie von) /,
  /[ _-]+(?:copy|kopie|copie|copia)(?![a-z])/,
  // Browsers: `jobs (1).xml`
  /[([]\d+[)\]]/,
]
/** Words of files that are not meant for the service. */
const TRIAL = /(?<!\p{L})(?:tests?|demo|sample|dummy|backup|bak|old)(?!\p{L})/gu
/** Numbers with what stands between them: dates of any kind, seconds since 1970, running numbers. */
const NUMBERS = new RegExp(
  `\\{date\\}|(?:${MONTH}[-_ .]?)?\\d+(?:[-_ .:T]?(?:\\d+|${MONTH}))*Z?`,
  'gi',
)

/** Alike is how two names that look alike differ. */
export type Alike = 'case' | 'copy' | 'numbers' | 'trial'

interface Named {
  feed: string
  path: string
}

/**
 * likenessOf returns the same text for feeds whose names look alike. Numbers, and words such as "test", make a
 * difference if a rule or a person named the feed. In a name that comes from the path of its file, they do not.
 */
export function likenessOf(named: Named): string {
  const { folder, stem } = partsOf(named.feed)
  const bare = withoutMarks(stem)
  return folder + joined(isNamed(named) ? bare : bare.replace(TRIAL, '').replace(NUMBERS, ''))
}

/**
 * isNamed returns whether a rule or a person named the feed. The path of a file from outside the folder (it begins with
 * `/`) proves nothing, so its feed counts as named unless the feed's name ends with `.xml`.
 */
function isNamed({ feed, path }: Named): boolean {
  return path.startsWith('/') ? !/\.xml$/i.test(feed) : feed !== feedWithoutRule(path)
}

/** isTrial returns whether a name says only that its file is a trial, such as `test.xml` or `old-2.xml`. */
export function isTrial(named: Named): boolean {
  const { feed } = named
  if (isNamed(named)) return false
  const stem = withoutMarks(partsOf(feed).stem)
  const left = stem.replace(TRIAL, '')
  return left !== stem && joined(left.replace(NUMBERS, '')) === ''
}

/** howAlike returns how the names of two feeds differ. Call it for names that look alike. */
export function howAlike(feed: string, other: string): Alike {
  if (folded(feed) === folded(other)) return 'case'
  if (isCopy(feed) || isCopy(other)) return 'copy'
  return [feed, other].some((name) => partsOf(name).stem.search(TRIAL) !== -1) ? 'trial' : 'numbers'
}

/** isCopy returns whether a program named the file as a copy of another file. */
export function isCopy(feed: string): boolean {
  const { stem } = partsOf(feed)
  return withoutMarks(stem) !== stem.replaceAll(DATE, '0')
}

/**
 * rulesFor returns two rules of the configuration for two feeds whose names differ in numbers: `one` makes them one
 * feed, and `each` gives each of them a feed of its own.
 */
export function rulesFor(feed: string, other: string): { one: string; each: string } {
  const own: readonly string[] = feed.match(NUMBERS) ?? []
  const others: readonly string[] = other.match(NUMBERS) ?? []
  const isShared = (n: number) => own.length === others.length && own[n] === others[n]
  const [start = '', ...pieces] = feed.split(NUMBERS).map((text) => escapedGlob(text))
  // The name of the feed, with `wildcard(n)` in place of number `n` if the other name has another number there.
  const pattern = (wildcard: (n: number) => string) =>
    pieces.reduce(
      (text, piece, n) => text + (isShared(n) ? escapedGlob(own[n] ?? '') : wildcard(n)) + piece,
      start,
    )
  const nameOf = (match: string) => match.replace(/\.xml$/i, '').replaceAll('\\', '')
  const name = trimmed(nameOf(pattern(() => ''))) || 'jobs'
  const each = pattern((n) => `{${n + 1}}`)
  return {
    one: ruleText(
      pattern(() => '*'),
      name,
    ),
    each: ruleText(each, nameOf(each)),
  }
}

function ruleText(match: string, name: string): string {
  return `feeds: [{ match: ${JSON.stringify(match)}, name: ${JSON.stringify(name)} }]`
}

function folded(feed: string): string {
  return feed.normalize('NFKC').toLowerCase()
}

/** partsOf splits a feed's name into the folder and the rest without `.xml`, in lower case and Unicode form NFKC. */
function partsOf(feed: string): { folder: string; stem: string } {
  const name = folded(feed)
  const start = name.lastIndexOf('/') + 1
  return { folder: name.slice(0, start), stem: name.slice(start).replace(/\.xml$/, '') }
}

/** withoutMarks removes what programs add to the name of a copy, and writes `0` for `{date}`. */
function withoutMarks(stem: string): string {
  return MARKS.reduce((text, mark) => text.replace(mark, ''), stem.replaceAll(DATE, '0'))
}

const trimmed = (text: string) => text.replace(/^[-_./ ]+|[-_./ ]+$/g, '')

/** joined returns the letters and digits of a text, with one hyphen for whatever stands between two of them. */
function joined(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '')
}
