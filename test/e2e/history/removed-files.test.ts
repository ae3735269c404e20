// The vendor writes exports under new names and clears the folder. The history does not grow for ever.

import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { DAY } from '../../../src/lib/clock.ts'
import { eventually } from '../../helpers/eventually.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

const RULES = [{ match: '{1}/*.xml', name: '{1}' }]

let site: Site
let passedMs = 0
beforeEach(async () => {
  passedMs = 0
  // The clock of the service runs ahead as well, so the daemon sees no skew.
  const quick = quickClock()
  const clock = { ...quick, now: () => quick.now() + passedMs }
  const config = {
    feeds: RULES,
    state: { historyFor: '60d' },
    upload: { keepVersions: 1 },
  }
  site = await Site.open(config, { clock })
})
afterEach(() => site[Symbol.asyncDispose]())

const paths = () => site.uploads({ all: true, feed: 'acme' }).map(({ path }) => path)

async function exported(name: string, postings: number): Promise<void> {
  site.drop(`acme/${name}`, feedOf(postings))
  const newest = () => site.uploads({ feed: 'acme' })[0]
  await eventually(() =>
    expect(newest()).toMatchObject({ path: `acme/${name}`, state: 'uploaded' }),
  )
}

it('after historyFor, a version whose file is gone is forgotten, versions with a file are kept, and nothing is sent again', async () => {
  const daemon = await site.daemon()
  await exported('at-one.xml', 2)
  await exported('at-two.xml', 3)
  await exported('at-three.xml', 4)
  rmSync(join(site.inbox, 'acme/at-one.xml'))
  // This upload needs a new listing, which finds that the file is missing.
  await exported('at-four.xml', 5)
  await daemon.stop()

  passedMs = 100 * DAY
  const later = await site.daemon()
  site.drop('other/at-one.xml', feedOf(2))
  await site.logged(later, 'old history forgotten')

  expect(paths()).toEqual(['acme/at-four.xml', 'acme/at-three.xml', 'acme/at-two.xml'])
  expect(site.sandbox.objects()).toHaveLength(5)
})

it('a feed named by its path keeps the version for the next comparison, even with a short historyFor', async () => {
  site.configure({
    ...{ feeds: RULES, upload: { keepVersions: 1 } },
    ...{ state: { historyFor: '1d' }, inbox: { afterUpload: 'delete' } },
  })
  const daemon = await site.daemon()
  site.drop('weekly.xml', feedOf(100))
  await exported('at-one.xml', 2)
  await exported('at-two.xml', 3)
  const left = () => readdirSync(site.inbox, { recursive: true }).map(String)
  await eventually(() => expect(left()).toEqual(['acme']))
  await daemon.stop()

  passedMs = 7 * DAY
  const later = await site.daemon()
  site.drop('other.xml', feedOf(2))
  await site.logged(later, 'old history forgotten')
  site.drop('weekly.xml', feedOf(10))

  const { reason } = await site.until('weekly.xml', 'held')
  expect(reason).toContain('90')
})

it('a feed named by its path is forgotten 400 days after its file left, together with its copy, and nothing is sent again', async () => {
  site.configure({ state: { historyFor: '60d' } })
  const daemon = await site.daemon()
  for (const name of ['at-one.xml', 'at-two.xml']) {
    site.drop(name, feedOf(2))
    await site.until(name, 'uploaded')
  }
  rmSync(join(site.inbox, 'at-one.xml'))
  // This upload needs a new listing, which finds that the file is missing.
  site.drop('at-three.xml', feedOf(2))
  await site.until('at-three.xml', 'uploaded')
  await daemon.stop()

  passedMs = 401 * DAY
  const later = await site.daemon()
  site.drop('at-four.xml', feedOf(2))
  await site.logged(later, 'old history forgotten')
  await site.until('at-four.xml', 'uploaded')
  await later.stop()

  const feeds = site.uploads().map(({ feed }) => feed)
  const copies = readdirSync(join(site.root, 'state/spool')).filter((n) => n.endsWith('.xml'))
  expect(feeds).toEqual(['at-four.xml', 'at-three.xml', 'at-two.xml'])
  expect(copies).toHaveLength(3)
  expect(site.sandbox.objects()).toHaveLength(4)
})
