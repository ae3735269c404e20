// A network mount below the folder whose server does not answer: every call about it hangs. Nothing else waits for it.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { hangingSite } from '../../helpers/hanging-site.ts'
import { statusOf, untilSkipped } from '../../helpers/look.ts'
import { feedOf } from '../../helpers/site.ts'

const WEST = { feeds: [{ match: 'mount/*.xml', name: 'west' }] }

describe('a directory whose file server does not answer', () => {
  it('is skipped and told by name, and feeds beside it and `retry` do not wait for it', async () => {
    const { answer, hang, site, untilHanging } = await hangingSite(WEST)
    await using _site = site
    site.drop('mount/jobs.xml', feedOf(2))
    await site.daemonProcess()
    await site.until('west', 'uploaded')
    const outage = site.sandbox.faults.add({
      ...{ at: 'storage', kind: 'answer', status: 503, retryAfter: '3000' },
    })
    site.drop('waits.xml', feedOf(2))
    await site.untilWaiting('waits.xml')
    hang('mount')
    await untilHanging('mount')
    outage.remove()

    const names = Array.from({ length: 20 }, (_, n) => `feed-${'abcdefghijklmnopqrst'[n]}.xml`)
    for (const name of names) site.drop(name, feedOf(2))
    const retried = await site.process('retry', '2')
    for (const name of names) await site.until(name, 'uploaded')
    const skipped = await untilSkipped(site, 'mount/')
    const [meanwhile] = site.uploads({ feed: 'west' })
    const { problems } = await eventually(() => {
      const report = statusOf(site)
      expect(report.problems).toContainEqual(expect.objectContaining({ code: 'scan-stuck' }))
      return report
    })
    answer('mount')
    await eventually(() => expect(statusOf(site).skipped).toEqual([]))
    site.drop('mount/jobs.xml', feedOf(3))
    await eventually(() => expect(site.uploads({ feed: 'west' })[0]?.postings).toBe(3))

    expect(retried.code).toBe(0)
    expect(skipped.reason).toBe('its file system does not answer')
    expect(meanwhile?.state).toBe('uploaded')
    const stuck = problems.find(({ code }) => code === 'scan-stuck')
    expect(stuck?.says).toContain(`listing ${join(site.inbox, 'mount')}/ has not ended since`)
    expect(problems.filter(({ subject }) => subject.kind === 'service')).toEqual([])
    const codes = () => statusOf(site).problems.map(({ code }) => code)
    await eventually(() => expect(codes()).not.toContain('scan-stuck'))
  })

  it('does not delay the start of the daemon, nor what it sends then, and is skipped with a hint', async () => {
    const { hang, site } = await hangingSite()
    await using _site = site
    mkdirSync(join(site.inbox, 'mount'))
    site.drop('jobs.xml', feedOf(2))
    hang('mount')

    await site.daemonProcess()
    await site.until('jobs.xml', 'uploaded')

    expect(await untilSkipped(site, 'mount/')).toMatchObject({ hint: expect.any(String) })
  })

  it('lets `run --once` send the rest and end by force, and is named', async () => {
    const { hang, site } = await hangingSite()
    await using _site = site
    mkdirSync(join(site.inbox, 'mount'))
    site.drop('jobs.xml', feedOf(2))
    hang('mount')

    const { code, stdout } = await site.process('run', '--once')

    expect(site.uploads()).toMatchObject([{ state: 'uploaded' }])
    expect([code, stdout]).toEqual([null, expect.stringContaining('mount/ skipped: its file')])
  })
})

describe('a folder that does not answer at all', () => {
  it('is named, and what was accepted before is sent', async () => {
    const { hang, site, untilHanging } = await hangingSite()
    await using _site = site
    const fault = site.sandbox.faults.add({ at: 'storage', kind: 'answer', status: 503 })
    await site.daemonProcess()
    site.drop('jobs.xml', feedOf(2))
    await site.untilWaiting('jobs.xml')
    hang('look')
    await untilHanging('look')
    fault.remove()

    await site.until('jobs.xml', 'uploaded')

    await eventually(() =>
      expect(statusOf(site).problems[0]).toMatchObject({
        ...{ code: 'scan-stuck', severity: 'critical' },
        says: expect.stringContaining(`listing ${site.inbox} has not ended since`),
      }),
    )
  })
})
