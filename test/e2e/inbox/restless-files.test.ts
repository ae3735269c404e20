// Files that never stay the same for the quiet period. The daemon's clocks run thirty times as fast: the quiet period
// takes 0.2 s, a minute 2 s, and incompleteAfter 6 s.

import { createHash } from 'node:crypto'
import { closeSync, openSync, renameSync, utimesSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { statusOf } from '../../helpers/look.ts'
import { feedOf, preload, Site } from '../../helpers/site.ts'

const hash = (text: string) => createHash('sha256').update(text).digest('hex')

const INBOX = { quietPeriod: '6s', rescan: '5s', incompleteAfter: '3m' }

/** Returns a site, and a disposable that does `change` each 50 ms until its end. */
async function restlessSite(change: (file: string, nth: number) => void, title = 'jobs.xml') {
  const site = await Site.open({ inbox: INBOX })
  site.env = { ...preload('fast-time.ts'), FEEDSYNCD_TIME_FACTOR: '30' }
  const file = join(site.inbox, title)
  let nth = 0
  change(file, nth++)
  const timer = setInterval(() => change(file, nth++), 50)
  return { site, restless: { [Symbol.dispose]: () => clearInterval(timer) } }
}

/** replace puts a whole new file in the place of another one, with other bytes of another size each time. */
function replace(file: string, nth: number): void {
  writeFileSync(`${file}.part`, feedOf(2 + (nth % 3)))
  renameSync(`${file}.part`, file)
}

function touch(file: string, nth: number): void {
  if (nth === 0) writeFileSync(file, feedOf(2))
  const at = new Date(Date.UTC(2026, 0, 1) + nth)
  utimesSync(file, at, at)
}

/** rewrite writes other bytes of the same size into the same file all the time. */
function rewrite(file: string, nth: number): void {
  writeFileSync(file, feedOf(20_000, 'abcdefghij'[nth % 10]))
}

describe('a feed that never stays the same', () => {
  it.each([
    ['is replaced whole by other bytes', replace],
    ['is touched', touch],
  ])(
    'because it %s all the time is named after a minute and sent as it is after incompleteAfter',
    async (_, change) => {
      const { restless, site } = await restlessSite(change)
      await using _site = site
      using _restless = restless
      await site.daemonProcess()

      const named = await eventually(() => {
        const [upload] = site.uploads()
        expect(upload?.reasonCode).toBe('never-quiet')
        return upload
      })
      const { problems } = statusOf(site)
      const sent = await site.passed('jobs.xml', 'uploaded')

      expect(named?.state).toBe('settling')
      expect(named?.reason).toMatch(/^it never stays the same for 6s \(inbox.quietPeriod\): its /)
      expect(problems).toContainEqual(expect.objectContaining({ code: 'never-quiet' }))
      const sha256 = site.uploads({ all: true }).find(({ id }) => id === sent.id)?.sha256
      const whole = [0, 1, 2].map((nth) => hash(feedOf(2 + nth)))
      expect(whole).toContain(sha256)
    },
  )

  it('is `seen`, and no new version, when it is read again with the same bytes', async () => {
    const { restless, site } = await restlessSite(touch)
    await using _site = site
    using _restless = restless
    await site.daemonProcess()

    await site.passed('jobs.xml', 'seen')

    expect(site.uploads({ all: true })).toMatchObject([{ id: 1, state: 'uploaded' }])
  })

  it('also while it is read is never sent, and a person is told to write it otherwise', async () => {
    const { restless, site } = await restlessSite(rewrite)
    await using _site = site
    using _restless = restless
    await site.daemonProcess()

    await site.passed('jobs.xml', 'checking')
    const { reason } = await site.passed('jobs.xml', 'settling', { nth: 2 })

    expect(reason).toBe('it changes all the time, also while it was read as it is')
    expect(site.sandbox.objects()).toEqual([])
  })

  it('because it grows is not read before it is complete', async () => {
    let descriptor = -1
    const grow = (file: string, nth: number) => {
      if (nth === 0) descriptor = openSync(file, 'a')
      writeSync(descriptor, nth === 0 ? '<source>\n' : '<job><title>Nurse</title></job>\n')
    }
    const { restless, site } = await restlessSite(grow)
    await using _site = site
    await site.daemonProcess()
    // Other feeds show that the time has passed.
    touch(join(site.inbox, 'other.xml'), 0)
    let nth = 1
    const other = setInterval(() => touch(join(site.inbox, 'other.xml'), nth++), 50)
    await site.passed('other.xml', 'uploaded')
    clearInterval(other)

    const [growing] = site.uploads({ feed: 'jobs.xml' })
    restless[Symbol.dispose]()
    writeSync(descriptor, '</source>\n')
    closeSync(descriptor)

    expect(growing).toMatchObject({ state: 'settling', reason: null })
    expect(site.events('jobs.xml').map(({ to }) => to)).toEqual(['settling'])
    await site.until('jobs.xml', 'uploaded')
  })
})
