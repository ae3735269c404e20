// Which names of feeds look alike, and the rules that a person can write about them.

import { describe, expect, it } from 'vitest'
import { feedFor } from '../../../src/config/feeds.ts'
import { howAlike, isTrial, likenessOf, rulesFor } from '../../../src/domain/likeness.ts'
import { escapedGlob, globMatcher } from '../../../src/lib/glob.ts'
import { feedRule } from '../../helpers/feed-rule.ts'

const byPath = (path: string) => likenessOf({ feed: feedFor(path, []).feed, path })
const alike = (a: string, b: string) => byPath(a) === byPath(b)

describe('two names look alike', () => {
  it.each([
    ['jobs.xml', 'jobs (1).xml', 'copy'],
    ['jobs.xml', 'jobs[2].xml', 'copy'],
    ['jobs.xml', 'Copy of jobs.xml', 'copy'],
    ['jobs.xml', 'jobs - Copy (2).xml', 'copy'],
    ['jobs.xml', 'jobs copy 2.xml', 'copy'],
    ['jobs.xml', 'jobs - Kopie.xml', 'copy'],
    ['jobs.xml', "jobs (Maria's conflicted copy 2026-11-28).xml", 'copy'],
    ['jobs.xml', 'jobs (SFConflict maria 2026-11-28-10-15-00).xml', 'copy'],
    ['jobs.xml', 'jobs.sync-conflict-20261128-101500-ABCDEFG.xml', 'copy'],
    ['jobs.xml', 'jobs_conflict-20261128-101500.xml', 'copy'],
    ['jobs (1).xml', 'jobs.xml', 'copy'],
    ['jobs.xml', 'JOBS.XML', 'case'],
    ['acme/jobs.xml', 'Acme/Jobs.xml', 'case'],
    ['jobs.xml', 'jobs-test.xml', 'trial'],
    ['jobs.xml', 'old_jobs.xml', 'trial'],
    ['jobs-test.xml', 'jobs.xml', 'trial'],
    ['jobs.xml', 'jobs2.xml', 'numbers'],
    ['jobs-2026-11-28.xml', 'jobs.xml', 'numbers'],
    ['jobs-27-11-2026.xml', 'jobs-28-11-2026.xml', 'numbers'],
    ['jobs-11-27-2026.xml', 'jobs-12-01-2026.xml', 'numbers'],
    ['jobs_271126.xml', 'jobs_281126.xml', 'numbers'],
    ['jobs-27-Nov-26.xml', 'jobs-01-Dec-26.xml', 'numbers'],
    ['jobs-1763856000.xml', 'jobs-1763942400.xml', 'numbers'],
    ['export-0001.xml', 'export-0002.xml', 'numbers'],
    ['1763856000.xml', '1763942400.xml', 'numbers'],
  ])('%s and %s, and it is said how they differ: %s', (one, other, how) => {
    expect(byPath(other)).toBe(byPath(one))
    expect(howAlike(feedFor(other, []).feed, feedFor(one, []).feed)).toBe(how)
  })
})

it.each([
  ['jobs.xml', 'nurses.xml'],
  ['acme/jobs.xml', 'bolt/jobs.xml'],
  ['12/jobs.xml', '13/jobs.xml'],
  ['jobs-full.xml', 'jobs.xml'],
  ['contests.xml', 'con.xml'],
  ['copyshop.xml', 'shop.xml'],
  ['conflicts.xml', 'jobs.xml'],
  ['oldenburg.xml', 'enburg.xml'],
])('%s and %s do not look alike', (one, other) => {
  expect(alike(one, other)).toBe(false)
})

it('a feed that a rule names old is not a trial, and jobs-old does not look like jobs.xml', () => {
  expect(isTrial({ feed: 'old', path: 'jobs.xml' })).toBe(false)
  expect(likenessOf({ feed: 'jobs-old', path: 'a.xml' })).not.toBe(byPath('jobs.xml'))
})

it('numbers count if a rule names the feeds, but marks of copies do not', () => {
  const rules = [feedRule('customer-{1}.xml', { name: 'customer-{1}' })]
  const of = (path: string) => likenessOf({ feed: feedFor(path, rules).feed, path })

  expect(of('customer-12.xml')).not.toBe(of('customer-13.xml'))
  expect(of('customer-12 (1).xml')).toBe(of('customer-12.xml'))
})

it.each([
  ['test.xml', true],
  ['acme/test-2.xml', true],
  ['Old.xml', true],
  ['test (1).xml', true],
  ['jobs-test.xml', false],
  ['latest.xml', false],
  ['1001.xml', false],
])('%s says only that it is a trial: %s', (feed, is) => {
  expect(isTrial({ feed, path: feed })).toBe(is)
})

it.each([
  ['jobs-28-11-2026.xml', 'jobs-27-11-2026.xml', 'jobs-*.xml', 'jobs'],
  ['a/export24_0002.xml', 'a/export24_0001.xml', 'a/export*.xml', 'a/export'],
  ['w24/jobs-2.xml', 'w24/jobs-1.xml', 'w24/jobs-*.xml', 'w24/jobs'],
  ['jobs2.xml', 'jobs.xml', 'jobs*.xml', 'jobs'],
  ['1763942400.xml', '1763856000.xml', '*.xml', 'jobs'],
  ['feed [a] 2.xml', 'feed [a] 1.xml', 'feed \\[a\\] *.xml', 'feed [a]'],
])('%s beside %s: one rule joins them, another keeps them apart', (feed, other, match, name) => {
  const { each, one } = rulesFor(feed, other)
  const read = (text: string) =>
    JSON.parse(text.replace('feeds: ', '').replace('match', '"match"').replace('name', '"name"'))

  expect(read(one)).toEqual([{ match, name }])
  for (const path of [feed, other])
    expect(feedFor(path, [{ ...feedRule(''), ...read(one)[0] }]).feed).toBe(name)
  const names = [feed, other].map(
    (path) => feedFor(path, [{ ...feedRule(''), ...read(each)[0] }]).feed,
  )
  expect(new Set(names).size).toBe(2)
})

it('a pattern that is made of a path with wildcards matches this path, and not another path', () => {
  for (const path of [
    'jobs (1).xml',
    'a[b]/{c}.xml',
    '!x*?.xml',
    'back\\slash.xml',
    '+(a|b)@.xml',
  ]) {
    expect([path, globMatcher(escapedGlob(path))(path)]).toEqual([path, true])
    expect(globMatcher(escapedGlob(path))('jobs 1.xml')).toBe(false)
  }
})
