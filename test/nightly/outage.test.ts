// Sends many feeds during and after an outage of storage, on the clock of the test.

import { expect, it } from 'vitest'
import { MINUTE } from '../../src/lib/clock.ts'
import { feedOf, lettersOf } from '../helpers/feed.ts'
import { Outlet } from '../helpers/outlet.ts'

const FEEDS = 2_000

it('few requests are sent while storage is down; afterwards each of 2,000 feeds is stored once, and only its newest version', async () => {
  await using outlet = await Outlet.open()
  outlet.fault({ at: 'storage', kind: 'answer', status: 503 })
  for (let n = 0; n < FEEDS; n++) await outlet.take(`${lettersOf(n)}.xml`, feedOf(2, `Feed ${n}`))
  await outlet.run(10 * MINUTE)
  for (let n = 0; n < FEEDS; n += 10)
    await outlet.take(`${lettersOf(n)}.xml`, feedOf(3, `Feed ${n}`))
  await outlet.run(10 * MINUTE)
  const state = outlet.serviceState
  const during = outlet.requests('storage').length

  outlet.sandbox.faults.clear()
  await outlet.run(30 * MINUTE)

  const newest = outlet.history.list({})
  const older = outlet.history.list({ states: ['superseded'], all: true })
  expect(state).toBe('down')
  expect(during).toBeLessThan(30)
  expect(newest.map((version) => version.state)).toEqual(Array(FEEDS).fill('uploaded'))
  expect(newest.filter(({ postings }) => postings === 3)).toHaveLength(FEEDS / 10)
  expect(older).toHaveLength(FEEDS / 10)
  expect(outlet.writes()).toEqual(Array(FEEDS).fill(1))
})
