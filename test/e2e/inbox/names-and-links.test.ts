// Files with several names, and files whose names change while the daemon looks at them.

import { linkSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

const stored = (site: Site) => site.sandbox.objects().map(({ sha256 }) => sha256)

it('two names of one file are two feeds, and both are archived', async () => {
  await using site = await Site.open(
    {
      feeds: [{ match: 'b.xml', name: 'other' }],
      inbox: { afterUpload: 'archive', archiveDirectory: './archive' },
    },
    { clock: quickClock() },
  )
  site.drop('a.xml', feedOf(3))
  linkSync(join(site.inbox, 'a.xml'), join(site.inbox, 'b.xml'))
  await site.daemon()

  await eventually(() => expect(readdirSync(site.inbox)).toEqual([]))

  const states = site.uploads().map(({ feed, state }) => `${feed} ${state}`)
  expect(states.sort()).toEqual(['a.xml uploaded', 'other uploaded'])
  expect(site.sandbox.objects()).toHaveLength(2)
  expect(readdirSync(join(site.root, 'archive'))).toHaveLength(2)
})

it('two files that swap their names repeatedly are each sent whole, and the last contents are on the service', async () => {
  await using site = await Site.open()
  const at = (name: string) => join(site.inbox, name)
  const swap = () => {
    renameSync(at('a.xml'), at('.spare'))
    renameSync(at('b.xml'), at('a.xml'))
    renameSync(at('.spare'), at('b.xml'))
  }
  site.drop('a.xml', feedOf(30, 'Nurse A'))
  site.drop('b.xml', feedOf(31, 'Nurse B'))
  const quick = quickClock()
  // After an odd number of swaps, each file has the name of the other.
  let swaps = 25
  site.clock = {
    ...quick,
    sleep: async (ms, signal) => {
      await quick.sleep(ms, signal)
      if (swaps-- > 0) swap()
    },
  }
  await site.daemon()

  await eventually(() => {
    expect(swaps).toBeLessThanOrEqual(0)
    const newest = (feed: string) => site.uploads({ feed })[0]
    expect(newest('a.xml')).toMatchObject({ state: 'uploaded', postings: 31 })
    expect(newest('b.xml')).toMatchObject({ state: 'uploaded', postings: 30 })
  })

  const known = new Set(site.uploads({ all: true }).map(({ sha256 }) => sha256))
  expect(stored(site).every((hash) => known.has(hash))).toBe(true)
  expect(new Set(stored(site)).size).toBe(2)
})

it('a file that becomes a directory and then a file again is uploaded each time', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  await site.daemon()
  site.drop('jobs.xml', feedOf(3))
  await site.until('jobs.xml', 'uploaded')
  rmSync(join(site.inbox, 'jobs.xml'))
  site.drop('jobs.xml/inner.xml', feedOf(4))
  await site.until('jobs.xml/inner.xml', 'uploaded')
  rmSync(join(site.inbox, 'jobs.xml'), { recursive: true })
  site.drop('jobs.xml', feedOf(5))

  await eventually(() => {
    expect(site.uploads({ feed: 'jobs.xml' })[0]).toMatchObject({ postings: 5, state: 'uploaded' })
  })

  const states = site.uploads({ all: true }).map(({ state }) => state)
  expect(states).toEqual(['uploaded', 'uploaded', 'uploaded'])
})

it('a feed whose directory is renamed during the read is sent under its new name, with the same bytes', async () => {
  await using site = await Site.open({ feeds: [{ match: '{1}/*.xml', name: '{1}' }] })
  const reading = site.holdReading()
  await site.daemonProcess()
  mkdirSync(join(site.inbox, 'north'))
  site.drop('north/held.xml', feedOf(300))
  await site.passed('north', 'checking')
  renameSync(join(site.inbox, 'north'), join(site.inbox, 'south'))
  reading.release()

  await site.until('south', 'uploaded')

  expect(['gone', 'uploaded']).toContain(site.uploads({ feed: 'north' })[0]?.state)
  expect(new Set(stored(site)).size).toBe(1)
})
