// Files that never stay the same for the quiet period. The daemon's clocks run thirty times as fast: the quiet period
// takes 0.2 s, a minute 2 s, and incompleteAfter 6 s.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { statusOf } from '../../helpers/look.ts'
import { feedOf, preload, Site } from '../../helpers/site.ts'

const hash = (text: string) => createHash('sha256').update(text).digest('hex')

const INBOX = { quietPeriod: '6s', rescan: '5s', incompleteAfter: '3m' }

/** restlessSite returns a site whose daemon finds the file changed at each look (restless-file.ts). */
async function restlessSite(file: string, inbox: Partial<typeof INBOX> = {}) {
  const site = await Site.open({ inbox: { ...INBOX, ...inbox } })
  const hold = join(site.root, 'hold')
  site.env = {
    ...preload('restless-file.ts', 'fast-time.ts'),
    ...{ FEEDSYNCD_TIME_FACTOR: '30', FEEDSYNCD_TEST_HOLD: hold },
  }
  writeFileSync(hold, '')
  site.drop(file, feedOf(2))
  return { site, hold }
}

describe('a feed that never stays the same', () => {
  it.each(['replaced', 'touched'])(
    'because it is %s all the time is named after a minute, and sent as it is after incompleteAfter',
    async (how) => {
      const file = `${how}.xml`
      const { site } = await restlessSite(file, { incompleteAfter: '1d' })
      await using _site = site
      const daemon = await site.daemonProcess()

      const named = await eventually(() => {
        const [upload] = site.uploads()
        expect(upload?.reasonCode).toBe('never-quiet')
        return upload
      })
      const { problems } = statusOf(site)
      daemon.kill()
      await once(daemon, 'exit')
      site.configure({ inbox: INBOX })
      await site.daemonProcess()
      const sent = await site.passed(file, 'uploaded')

      expect(named?.state).toBe('settling')
      expect(named?.reason).toMatch(/^it never stays the same for 6s \(inbox.quietPeriod\): its /)
      expect(problems).toContainEqual(expect.objectContaining({ code: 'never-quiet' }))
      const sha256 = site.uploads({ all: true }).find(({ id }) => id === sent.id)?.sha256
      const whole = [0, 1, 2].map((nth) => hash(feedOf(2 + nth)))
      expect(whole).toContain(sha256)
    },
  )

  it('is `seen`, and no new version, when it is read again with the same bytes', async () => {
    const { site } = await restlessSite('touched.xml')
    await using _site = site
    await site.daemonProcess()

    await site.passed('touched.xml', 'seen')
    await site.until('touched.xml', 'uploaded')

    expect(site.uploads({ all: true })).toHaveLength(1)
  })

  it('also while it is read is not sent, and a person is told to write it otherwise', async () => {
    const { site } = await restlessSite('rewritten.xml')
    await using _site = site
    await site.daemonProcess()

    const { id, reason } = await site.passed('rewritten.xml', 'settling', { nth: 2 })

    expect(reason).toBe('it changes all the time, also while it was read as it is')
    expect(site.show(id).hint).toMatch(/^let its writer write under another name, and rename/)
    expect(site.sandbox.objects()).toEqual([])
  })

  it('because it grows is not read before it is complete', async () => {
    const { site, hold } = await restlessSite('grown.xml')
    await using _site = site
    writeFileSync(join(site.inbox, 'grown.xml'), '<source>\n')
    site.drop('touched.xml', feedOf(2))
    await site.daemonProcess()
    // The other feed shows that incompleteAfter has passed.
    await site.passed('touched.xml', 'uploaded')

    const [growing] = site.uploads({ feed: 'grown.xml' })
    rmSync(hold)

    expect(growing).toMatchObject({ state: 'settling', reason: null })
    expect(site.events('grown.xml').map(({ to }) => to)).toEqual(['settling'])
    await site.until('grown.xml', 'uploaded')
  })
})
