// Files whose names or contents show that they are not complete yet.

import { mkdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Clock, MINUTE } from '../../../src/lib/clock.ts'
import { eventually } from '../../helpers/eventually.ts'
import { statusOf } from '../../helpers/look.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, lettersOf, Site } from '../../helpers/site.ts'

describe('the names of unfinished files', () => {
  it('are never uploaded, even if included; each renamed file is a feed', async () => {
    await using site = await Site.open({ inbox: { include: ['**'] } }, { clock: quickClock() })
    await site.daemon()
    // test/unit/inbox/temporary-names.test.ts knows the names that each program writes.
    const names = ['.jobs.xml.AbC123', 'jobs.xml.filepart', 'jobs.xml~', '.hidden/jobs.xml']
    mkdirSync(join(site.inbox, '.hidden'))

    for (const name of names) writeFileSync(join(site.inbox, name), feedOf(2))
    site.drop('later.xml', feedOf(2))
    await site.until('later.xml', 'uploaded')
    const before = site.uploads({ all: true }).map(({ path }) => path)
    names.forEach((name, n) => {
      renameSync(join(site.inbox, name), join(site.inbox, `${lettersOf(n)}.xml`))
    })
    for (const n of names.keys()) await site.until(`${lettersOf(n)}.xml`, 'uploaded')

    expect(before).toEqual(['later.xml'])
  })

  it('are mentioned in status when they are old, until they are renamed', async () => {
    await using site = await Site.open(
      { inbox: { incompleteAfter: '1h' } },
      { clock: quickClock() },
    )
    const old = join(site.inbox, '.jobs.xml.AbC123')
    writeFileSync(old, feedOf(2))
    utimesSync(old, new Date(2001, 0, 1), new Date(2001, 0, 1))
    writeFileSync(join(site.inbox, 'fresh.xml.part'), feedOf(2))
    await site.daemon()

    const unfinished = () => statusOf(site).daemon.unfinished
    await eventually(() =>
      expect(unfinished().map(({ path }) => path)).toEqual(['.jobs.xml.AbC123']),
    )
    const { stdout } = await site.run('status')
    renameSync(old, join(site.inbox, 'jobs.xml'))
    await site.until('jobs.xml', 'uploaded')
    await eventually(() => expect(unfinished()).toEqual([]))

    expect(stdout).toMatch(
      /^info: \.jobs\.xml\.AbC123 has a temporary name.*\n {2}rename it if it is complete/m,
    )
  })
})

it('a feed that is rewritten repeatedly but does not grow is rejected after the deadline', async () => {
  await using site = await Site.open({ inbox: { incompleteAfter: '15m' } })
  const quick = quickClock()
  let passed = 0
  const clock: Clock = {
    ...quick,
    now: () => quick.now() + passed,
    monotonic: () => quick.monotonic() + passed,
  }
  site.clock = clock
  await site.daemon()
  const path = join(site.inbox, 'jobs.xml')

  for (const nth of [1, 2, 3]) {
    writeFileSync(path, feedOf(9).slice(0, 500 - nth))
    await site.passed('jobs.xml', 'incomplete', { nth })
    passed += 4 * MINUTE
  }
  const since = site.uploads()[0]?.incompleteSince
  passed += 4 * MINUTE
  await site.until('jobs.xml', 'rejected')

  expect(Date.parse(since ?? '') + 15 * MINUTE).toBeLessThan(clock.now())
  expect(site.uploads()[0]?.hint).toMatch(/its writer stopped/)
  expect(site.uploads({ all: true })).toHaveLength(1)
})
