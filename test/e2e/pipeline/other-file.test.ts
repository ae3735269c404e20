// The first file of a feed from another path that shares no posting with the version before: probably another feed,
// whose number only looks like a date, or the file of another customer.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

/** of returns a feed with ids that no feed of another customer has. */
const of = (customer: string, postings = 5) =>
  feedOf(postings, customer).replaceAll('J-', `${customer}-`)
/** withoutIds returns a feed without ids. */
const withoutIds = (customer: string) =>
  feedOf(5, customer).replaceAll(/<referencenumber>.*?<\/referencenumber>/g, '')

const opened = (config: Record<string, unknown> = {}) => Site.open(config, { clock: quickClock() })

const feedAt = (path: string) => path.replace(/\d{8}(-\d{4})?/, '{date}')

it.each([
  ['20261122-1001.xml', '20261122-1002.xml', of('a'), of('b')],
  ['20301215.xml', '20301216.xml', of('a'), of('b')],
  ['jobs-20261122.xml', 'jobs-20261123.xml', withoutIds('a'), withoutIds('b')],
])('%s and %s of two customers: the second is held', async (first, second, one, other) => {
  await using site = await opened()
  await site.daemon()
  const feed = feedAt(first)
  site.drop(first, one)
  await site.until(feed, 'uploaded')
  site.drop(second, other)
  const held = await site.until(feed, 'held')

  expect(held).toMatchObject({
    ...{ guard: 'other-file', path: second },
    reason: 'the file comes from another path than version 1 and has none of its 5 postings',
  })
  expect(held.hint).toContain('dated: false')
})

it('an upload of another customer’s file as this feed is held', async () => {
  await using site = await opened()
  await site.daemon()
  site.drop('acme.xml', of('a'))
  await site.until('acme.xml', 'uploaded')
  const file = join(site.root, 'bolt.xml')
  writeFileSync(file, of('b'))
  await site.run('upload', file, '--feed', 'acme.xml')

  expect(await site.until('acme.xml', 'held')).toMatchObject({ guard: 'other-file' })
})

it('a feed that shares one posting with the version before is not held', async () => {
  await using site = await opened()
  await site.daemon()
  site.drop('jobs-20261122.xml', of('a'))
  await site.until('jobs-{date}.xml', 'uploaded')
  site.drop('jobs-20261123.xml', of('b').replace('b-0', 'a-0'))

  await site.passed('jobs-{date}.xml', 'uploaded', { nth: 2 })
})

it('a file at the same path is sent although it replaces all postings', async () => {
  await using site = await opened()
  await site.daemon()
  site.drop('jobs.xml', of('a'))
  await site.until('jobs.xml', 'uploaded')
  site.drop('jobs.xml', of('b'))

  await site.passed('jobs.xml', 'uploaded', { nth: 2 })
})

it('a feed that gives its postings new ids each day is sent each day after one release', async () => {
  await using site = await opened()
  await site.daemon()
  const feed = 'jobs-{date}.xml'
  site.drop('jobs-20261122.xml', of('a'))
  await site.until(feed, 'uploaded')
  site.drop('jobs-20261123.xml', of('b'))
  const { id } = await site.until(feed, 'held')
  await site.run('release', String(id))
  await site.passed(feed, 'uploaded', { nth: 2 })
  for (const [n, day] of ['24', '25'].entries()) {
    site.drop(`jobs-202611${day}.xml`, of(`c${n}`))
    await site.passed(feed, 'uploaded', { nth: 3 + n })
  }
})

it('a file of another path that a person released is sent when it replaces all postings', async () => {
  await using site = await opened({ feeds: [{ match: '*.xml', name: 'all' }] })
  await site.daemon()
  site.drop('a.xml', of('a'))
  await site.until('all', 'uploaded')
  site.drop('b.xml', of('b'))
  await site.run('release', String((await site.until('all', 'held')).id))
  await site.passed('all', 'uploaded', { nth: 2 })
  site.drop('b.xml', of('c'))

  await site.passed('all', 'uploaded', { nth: 3 })
})

it('a second file of a named feed that shares nothing is held while the first waits, and the first is then sent', async () => {
  await using site = await opened({ feeds: [{ match: '*.xml', name: 'all' }] })
  const outage = site.sandbox.faults.add({ at: 'service', kind: 'answer', status: 503 })
  await site.daemon()
  site.drop('a.xml', of('a'))
  await site.untilWaiting('all')
  site.drop('b.xml', of('b'))
  const held = await site.until('all', 'held')
  outage.remove()

  expect(held.guard).toBe('other-file')
  await site.run('retry', '--all')
  await site.passed('all', 'uploaded')
  expect(site.uploads({ all: true }).map(({ state }) => state)).toEqual(['held', 'uploaded'])
})
