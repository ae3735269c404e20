// The baselines of a new version while an earlier version is not uploaded yet: never a silent wipe, whatever happens
// between the check and the delivery.

import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { trail } from '../../helpers/look.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

const sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('hex')
const stored = (site: Site) => site.sandbox.objects().map((object) => object.sha256)
const all = (site: Site) => site.uploads({ feed: 'jobs.xml', all: true })

/** withGate opens a running site whose service holds each request for a form until the test releases it. */
async function withGate() {
  const site = await Site.open({}, { clock: quickClock() })
  const gate = site.sandbox.faults.add({ at: 'service', kind: 'gate', point: 'headers' })
  await site.daemon()
  return { site, gate }
}

/** dropped drops a feed, waits until its version has this state, and returns the version. */
async function dropped(site: Site, bytes: string, state: 'held' | 'queued' | 'uploaded') {
  site.drop('jobs.xml', bytes)
  return site.until('jobs.xml', state, sha256(bytes))
}

describe('a feed that a rule gives another name', () => {
  const renamed = { feeds: [{ match: '*.xml', name: 'acme' }] }

  it('is compared with the earlier upload of the same file, and sent if it did not collapse', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    const daemon = await site.daemon()
    await dropped(site, feedOf(1000), 'uploaded')
    await daemon.stop()
    site.configure(renamed)
    await site.daemon()

    site.drop('jobs.xml', feedOf(1))
    const { reason } = await site.until('acme', 'held')
    site.drop('jobs.xml', feedOf(999))
    await site.until('acme', 'uploaded')

    expect(reason).toMatch(/^the feed dropped from 1,000 postings to 1 \(99 %\)/)
  })
})

describe('while the previous version is not uploaded yet', () => {
  it('a collapsed feed is held, and sent only when a person releases it', async () => {
    const { site, gate } = await withGate()
    await using _ = site
    await dropped(site, feedOf(1000), 'queued')
    await gate.held()

    const held = await dropped(site, feedOf(1), 'held')
    gate.remove()
    await site.passed('jobs.xml', 'uploaded')
    const [, first] = all(site)
    const { code } = await site.run('release', String(held.id))
    await site.until('jobs.xml', 'uploaded', sha256(feedOf(1)))

    expect(held.reason).toMatch(
      new RegExp(`^the feed dropped from 1,000 postings to 1 \\(99 %\\).*version ${first?.id}$`),
    )
    expect(code).toBe(0)
    expect(stored(site)).toEqual([sha256(feedOf(1000)), sha256(feedOf(1))])
  })

  it('a feed is compared with the last confirmed version and with the last accepted version', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    await site.daemon()
    site.drop('jobs.xml', feedOf(1000))
    await site.until('jobs.xml', 'uploaded')
    const gate = site.sandbox.faults.add({ at: 'service', kind: 'gate', point: 'headers' })

    await dropped(site, feedOf(600), 'queued')
    await gate.held()
    const held = await dropped(site, feedOf(350), 'held')
    await dropped(site, feedOf(1400), 'queued')
    const heldToo = await dropped(site, feedOf(650), 'held')

    expect(held.reason).toMatch(/^the feed dropped from 1,000 postings to 350 \(65 %\)/)
    expect(heldToo.reason).toMatch(/^the feed dropped from 1,400 postings to 650 \(53 %\)/)
  })

  it('a released version takes the place of the older versions and is the next baseline', async () => {
    const { site, gate } = await withGate()
    await using _ = site
    await dropped(site, feedOf(1000), 'queued')
    await gate.held()
    await dropped(site, feedOf(990), 'queued')
    const held = await dropped(site, feedOf(2), 'held')

    await site.run('release', String(held.id))
    const next = await dropped(site, feedOf(2, 'Cook'), 'queued')
    gate.remove()
    await site.until('jobs.xml', 'uploaded', sha256(feedOf(2, 'Cook')))

    expect(next.reason).toBeNull()
    expect(all(site).map(({ state }) => state)).toEqual([
      ...['uploaded', 'superseded', 'superseded', 'superseded'],
    ])
    expect(stored(site)).toEqual([sha256(feedOf(2, 'Cook'))])
  })

  it('a version with an unknown outcome is a baseline, because storage might have it', async () => {
    await using site = await Site.open()
    const cut = site.sandbox.faults.add({ at: 'storage', kind: 'gate', point: 'answer', times: 1 })
    const daemon = await site.daemonProcess()
    site.drop('jobs.xml', feedOf(1000))
    await cut.held()
    daemon.kill('SIGKILL')
    await new Promise((resolve) => daemon.once('exit', resolve))
    const gate = site.sandbox.faults.add({
      at: 'service',
      kind: 'gate',
      point: 'headers',
      times: 1,
    })
    site.sandbox.faults.add({ at: 'service', kind: 'answer', status: 503, retryAfter: '600' })
    await site.daemon()
    await gate.held()
    await dropped(site, feedOf(600), 'queued')
    gate.release()
    await site.passed('jobs.xml', 'superseded')

    const held = await dropped(site, feedOf(350), 'held')

    expect(held.reason).toMatch(/^the feed dropped from 1,000 postings to 350 \(65 %\)/)
  })

  it('a version that was discarded by mistake can be restored after the previous version was uploaded', async () => {
    const { site, gate } = await withGate()
    await using _ = site
    await dropped(site, feedOf(10), 'queued')
    await gate.held()
    const { id } = await dropped(site, feedOf(1), 'held')
    await site.run('discard', String(id))
    gate.remove()
    await eventually(() => expect(stored(site)).toEqual([sha256(feedOf(10))]))
    await eventually(() => expect(all(site)[1]?.state).toBe('uploaded'))

    const restored = await site.run('restore', String(id))

    expect(restored).toMatchObject({ code: 0 })
    await site.until('jobs.xml', 'uploaded', sha256(feedOf(1)))
    expect(all(site).map(({ state }) => state)).toEqual(['uploaded', 'discarded', 'uploaded'])
  })
})

describe('when its delivery starts', () => {
  it('a version is held, and not sent, if it is a collapse by the current limits', async () => {
    await using site = await Site.open({ guards: { maxDropPercent: 50 } }, { clock: quickClock() })
    const daemon = await site.daemon()
    site.drop('jobs.xml', feedOf(10))
    await site.until('jobs.xml', 'uploaded')
    site.sandbox.faults.add({
      ...({ at: 'service', kind: 'answer', status: 503, retryAfter: '600', times: 1 } as const),
    })
    const queued = await dropped(site, feedOf(6), 'queued')

    await daemon.stop()
    site.configure({ guards: { maxDropPercent: 30 } })
    await site.daemon()
    await site.run('retry', String(queued.id))
    const held = await site.until('jobs.xml', 'held')

    expect(held.reason).toContain('guards.maxDropPercent is 30')
    expect(trail(site, held.id).slice(-2)).toEqual(['queued', 'held'])
    expect(stored(site)).toEqual([sha256(feedOf(10))])
  })

  it('a version is compared with the remaining baseline after the previous version was discarded', async () => {
    await using site = await Site.open({ guards: { maxDropPercent: 50 } }, { clock: quickClock() })
    await site.daemon()
    site.drop('jobs.xml', feedOf(100))
    await site.until('jobs.xml', 'uploaded')
    site.sandbox.faults.add({ at: 'service', kind: 'answer', status: 503, retryAfter: '600' })
    const { id } = await dropped(site, feedOf(10), 'held')
    await site.run('release', String(id))
    await eventually(() => expect(site.show(id).nextAttemptAt).not.toBeNull())
    const discarded = await site.run('discard', String(id))

    const next = await dropped(site, feedOf(9), 'held')

    expect(discarded.code).toBe(0)
    expect(next.reason).toMatch(/^the feed dropped from 100 postings to 9/)
  })
})
