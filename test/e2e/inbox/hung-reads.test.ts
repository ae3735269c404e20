// A read that never returns, as of a file on a network mount without its server. The daemon's clocks run ten times as
// fast.

import { describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { hangingSite } from '../../helpers/hanging-site.ts'
import { statusOf, untilSkipped } from '../../helpers/look.ts'
import { feedOf } from '../../helpers/site.ts'

describe('a file whose read hangs', () => {
  it('is skipped by name after a minute, feeds beside it are sent, and it is sent when the read ends', async () => {
    const { answer, hang, site, untilHanging } = await hangingSite()
    await using _site = site
    await site.daemonProcess()
    hang('read')
    site.drop('hung.xml', feedOf(2))
    await untilHanging('read')
    const names = Array.from({ length: 20 }, (_, n) => `feed-${'abcdefghijklmnopqrst'[n]}.xml`)
    for (const name of names) site.drop(name, feedOf(2))

    for (const name of names) await site.until(name, 'uploaded')
    const { reason } = await untilSkipped(site, 'hung.xml')
    const meanwhile = site.uploads({ feed: 'hung.xml' })
    const stuck = await eventually(() => {
      const found = statusOf(site).problems.find(({ code }) => code === 'read-stuck')
      return found ?? expect.fail('no condition yet')
    })
    answer('read')
    await site.until('hung.xml', 'uploaded')

    expect(reason).toBe('a read hangs: its disk or file server does not answer')
    expect(meanwhile).toEqual([])
    expect(stuck.says).toMatch(/^reading \S+\/hung\.xml has not ended since 20/)
    const codes = () => statusOf(site).problems.map(({ code }) => code)
    await eventually(() => expect(codes()).not.toContain('read-stuck'))
    expect(statusOf(site).skipped).toEqual([])
  })

  it('leaves the version of its feed as it was, and a large feed beside it is read', async () => {
    const { hang, site, untilHanging } = await hangingSite()
    await using _site = site
    await site.daemonProcess()
    site.drop('hung.xml', feedOf(3))
    const { id } = await site.until('hung.xml', 'uploaded')
    hang('read')
    site.drop('hung.xml', feedOf(4, 'x'.repeat(3 * 2 ** 20)))
    await untilHanging('read')
    site.drop('large.xml', feedOf(4, 'y'.repeat(3 * 2 ** 20)))

    await site.until('large.xml', 'uploaded')
    await untilSkipped(site, 'hung.xml')

    expect(site.uploads({ feed: 'hung.xml' })).toMatchObject([{ id, state: 'uploaded' }])
  })
})
