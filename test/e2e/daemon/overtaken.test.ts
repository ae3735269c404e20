// The order of a feed's versions. The bytes that their writer finished last are sent last and are the newest version,
// even if another file was detected later. A file that nobody has written again never replaces them.

import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Command } from '../../helpers/command.ts'
import { eventually } from '../../helpers/eventually.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

const FEEDS = { feeds: [{ match: '{1}/*.xml', name: '{1}' }] }
const MONDAY = feedOf(10, 'Nurse')
const TUESDAY = feedOf(11, 'Nurse')
/** Seconds since 1970. */
const DATE = 1_790_000_000
const openSite = (config: Record<string, unknown> = {}) =>
  Site.open(config, { clock: quickClock() })
const sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('hex')

/**
 * expectNewest checks that the last object in storage and the newest, uploaded version of the feed have these bytes.
 */
function expectNewest(site: Site, feed: string, bytes: string): void {
  const [newest] = site.uploads({ feed })
  expect(site.sandbox.objects().at(-1)?.sha256).toBe(sha256(bytes))
  expect(newest).toMatchObject({ state: 'uploaded', sha256: sha256(bytes) })
}

describe('an export that is complete after an earlier version was restored', () => {
  /** restored makes two uploads, drops an export that ends early, and restores the first upload. */
  async function restored(site: Site, whileDown: boolean): Promise<void> {
    site.drop('jobs.xml', MONDAY)
    const { id } = await site.until('jobs.xml', 'uploaded')
    site.drop('jobs.xml', TUESDAY)
    await site.until('jobs.xml', 'uploaded', sha256(TUESDAY))
    site.drop('jobs.xml', feedOf(12).slice(0, 500))
    await site.until('jobs.xml', 'incomplete')
    if (whileDown) {
      const down = { at: 'service', kind: 'answer', status: 503, retryAfter: '600' } as const
      site.sandbox.faults.add(down)
    }
    await site.run('restore', String(id))
  }

  it('is the newest version, and makes no new one when its bytes come again', async () => {
    await using site = await openSite()
    await site.daemon()
    await restored(site, false)
    await site.until('jobs.xml', 'uploaded', sha256(MONDAY))

    site.drop('jobs.xml', feedOf(12))
    const { id } = await site.until('jobs.xml', 'uploaded', sha256(feedOf(12)))
    site.drop('jobs.xml', feedOf(12))
    await site.passed('jobs.xml', 'seen')

    expectNewest(site, 'jobs.xml', feedOf(12))
    expect(site.events('jobs.xml').find(({ to }) => to === 'seen')?.id).toBe(id)
  })

  it('replaces the restored version that waits', async () => {
    await using site = await openSite()
    await site.daemon()
    await restored(site, true)
    await site.untilWaiting('jobs.xml', sha256(MONDAY))

    site.drop('jobs.xml', feedOf(12))
    await site.untilWaiting('jobs.xml', sha256(feedOf(12)))
    site.sandbox.faults.clear()
    await site.run('retry', '--all')
    await site.until('jobs.xml', 'uploaded', sha256(feedOf(12)))

    expectNewest(site, 'jobs.xml', feedOf(12))
    expect(site.events('jobs.xml').map(({ to }) => to)).toContain('superseded')
  })
})

describe('the file of a feed that was detected first but is complete last', () => {
  it('is the newest version after it was incomplete, until the other file is written again', async () => {
    await using site = await openSite(FEEDS)
    await site.daemon()
    site.drop('acme/monday.xml', MONDAY.slice(0, 500))
    await site.until('acme', 'incomplete')
    site.drop('acme/tuesday.xml', TUESDAY)
    await site.until('acme', 'uploaded', sha256(TUESDAY))

    site.drop('acme/monday.xml', MONDAY)
    await site.until('acme', 'uploaded', sha256(MONDAY))
    site.drop('acme/tuesday.xml', TUESDAY)
    await site.until('acme', 'uploaded', sha256(TUESDAY))

    expectNewest(site, 'acme', TUESDAY)
    expect(site.sandbox.objects()).toHaveLength(3)
  })

  it('is the newest version after it had left the folder', async () => {
    await using site = await openSite(FEEDS)
    await site.daemon()
    site.drop('acme/monday.xml', MONDAY.slice(0, 500))
    await site.until('acme', 'incomplete')
    unlinkSync(join(site.inbox, 'acme/monday.xml'))
    await site.until('acme', 'gone')
    site.drop('acme/tuesday.xml', TUESDAY)
    await site.until('acme', 'uploaded', sha256(TUESDAY))

    site.drop('acme/monday.xml', MONDAY)
    await site.until('acme', 'uploaded', sha256(MONDAY))

    expectNewest(site, 'acme', MONDAY)
  })
})

it('a version that fails while a newer one waits is superseded and needs no person', async () => {
  await using site = await openSite()
  const gate = site.sandbox.faults.add({ at: 'storage', kind: 'gate', point: 'headers' })
  site.sandbox.faults.add({ at: 'storage', kind: 'answer', status: 413, times: 1 })
  await site.daemon()
  site.drop('jobs.xml', MONDAY)
  await site.until('jobs.xml', 'uploading')
  site.drop('jobs.xml', TUESDAY)
  await site.until('jobs.xml', 'queued', sha256(TUESDAY))

  gate.remove()
  await site.until('jobs.xml', 'uploaded', sha256(TUESDAY))

  const [newest, older] = site.uploads({ all: true })
  expect(older).toMatchObject({
    state: 'superseded',
    reason: `version ${newest?.id} took the place of version ${older?.id}`,
  })
  expect(site.events('jobs.xml').map(({ reason }) => reason)).toContain('storage answered 413')
  expect(await site.run('status', '--check')).toMatchObject({ code: 0 })
})

describe('a file that nobody has written since it was taken', () => {
  /** seen returns the number of `seen` events of the feed. */
  const seen = (site: Site) => site.events('acme').filter(({ to }) => to === 'seen').length

  it('does not replace a restored version when only its permissions change', async () => {
    await using site = await openSite(FEEDS)
    await site.daemon()
    site.drop('acme/jobs.xml', MONDAY)
    const { id } = await site.until('acme', 'uploaded')
    site.drop('acme/jobs.xml', TUESDAY)
    await site.until('acme', 'uploaded', sha256(TUESDAY))
    await site.run('restore', String(id))
    await site.until('acme', 'uploaded', sha256(MONDAY))

    chmodSync(join(site.inbox, 'acme/jobs.xml'), 0o640)
    await site.passed('acme', 'seen')

    expectNewest(site, 'acme', MONDAY)
  })

  it('does not replace a newer file of its feed when its device gets another number', async () => {
    await using site = await openSite(FEEDS)
    const first = await site.daemon()
    site.drop('acme/monday.xml', MONDAY)
    await site.until('acme', 'uploaded', sha256(MONDAY))
    site.drop('acme/tuesday.xml', TUESDAY)
    await site.until('acme', 'uploaded', sha256(TUESDAY))
    await first.stop()
    const database = new Database(join(site.root, 'state', 'feedsyncd.db'))
    database.exec("UPDATE files SET dev = '9'")
    database.close()

    await site.daemon()
    await eventually(() => expect(seen(site)).toBe(2))

    expectNewest(site, 'acme', TUESDAY)
    expect(site.sandbox.objects()).toHaveLength(2)
  })

  it('does not replace a newer file of its feed when the folder moves to another disk', async (context) => {
    const isSameDisk = statSync('/dev/shm').dev === statSync(tmpdir()).dev
    context.skip(isSameDisk, '/dev/shm is not another disk here')
    await using site = await openSite(FEEDS)
    const first = await site.daemon()
    for (const [name, bytes] of [
      ['monday', MONDAY],
      ['tuesday', TUESDAY],
    ] as const) {
      site.drop(`acme/${name}.xml`, bytes)
      await site.until('acme', 'uploaded', sha256(bytes))
    }
    await first.stop()
    const disk = mkdtempSync('/dev/shm/feedsyncd-test-')
    onTestFinished(() => rmSync(disk, { recursive: true }))
    // Like tar, this copy keeps dates only to the second.
    cpSync(site.inbox, disk, { recursive: true, preserveTimestamps: true })
    rmSync(site.inbox, { recursive: true })
    symlinkSync(disk, site.inbox)

    await site.daemon()
    await eventually(() => expect(seen(site)).toBe(2))

    expectNewest(site, 'acme', TUESDAY)
    expect(site.sandbox.objects()).toHaveLength(2)
  })

  it.each([0, 1])('is sent again after it is put there again, dated %i s later', async (later) => {
    await using site = await openSite(FEEDS)
    await site.daemon()
    const put = (seconds: number) => {
      const staged = join(site.root, 'monday.xml')
      writeFileSync(staged, MONDAY)
      utimesSync(staged, seconds, seconds)
      mkdirSync(join(site.inbox, 'acme'), { recursive: true })
      renameSync(staged, join(site.inbox, 'acme/monday.xml'))
    }
    put(DATE)
    const { id } = await site.until('acme', 'uploaded', sha256(MONDAY))
    site.drop('acme/tuesday.xml', TUESDAY)
    await site.until('acme', 'uploaded', sha256(TUESDAY))

    put(DATE + later)
    await site.until('acme', 'uploaded', sha256(MONDAY))

    expectNewest(site, 'acme', MONDAY)
    expect(site.uploads({ feed: 'acme' })[0]?.id).toBe(id + 2)
  })
})

describe('when a rule gives a file to another feed while a version of it waits', () => {
  /** moved lets a version of the feed `old` wait with these files, then gives `moved.xml` to the feed `new`. */
  async function moved(site: Site, files: string[]): Promise<void> {
    const down = { at: 'service', kind: 'answer', status: 503, retryAfter: '600' } as const
    site.sandbox.faults.add(down)
    const before = await site.daemon()
    for (const file of files) {
      site.drop(file, MONDAY)
      if (file === files[0]) await site.untilWaiting('old')
      else await site.passed('old', 'seen')
    }
    await restarted(site, before, [{ match: 'moved.xml', name: 'new' }, OLD])
    site.sandbox.faults.clear()
    site.drop('moved.xml', TUESDAY)
  }
  const OLD = { match: '*.xml', name: 'old' }
  const feed = (name: string) => [{ match: '*.xml', name }]

  /** restarted starts the daemon again with other rules. */
  async function restarted(site: Site, daemon: Command, feeds: object[]): Promise<Command> {
    await daemon.stop()
    site.configure({ feeds })
    return site.daemon()
  }

  it('its new content is sent, and the waiting version is superseded', async () => {
    await using site = await Site.open({ feeds: [OLD] })
    await moved(site, ['moved.xml'])

    await site.until('new', 'uploaded', sha256(TUESDAY))
    const { reason } = await site.until('old', 'superseded')

    expect(reason).toBe('version 2 took the place of version 1')
    expectNewest(site, 'new', TUESDAY)
  })

  it('the waiting version is sent if another file of its feed has the same bytes', async () => {
    await using site = await Site.open({ feeds: [OLD] })
    await moved(site, ['moved.xml', 'stays.xml'])

    await site.until('new', 'uploaded', sha256(TUESDAY))
    await site.run('retry', '--all')

    await site.until('old', 'uploaded', sha256(MONDAY))
  })

  it('the waiting version is superseded when the file returns to its first feed with uploaded bytes', async () => {
    await using site = await Site.open({ feeds: feed('one') })
    const first = await site.daemon()
    site.drop('jobs.xml', MONDAY)
    await site.until('one', 'uploaded')
    const down = { at: 'service', kind: 'answer', status: 503, retryAfter: '600' } as const
    site.sandbox.faults.add(down)
    const second = await restarted(site, first, feed('two'))
    site.drop('jobs.xml', TUESDAY)
    await site.untilWaiting('two')
    await restarted(site, second, feed('one'))

    site.drop('jobs.xml', MONDAY)
    await site.passed('one', 'seen')

    expect(await site.until('two', 'superseded')).toMatchObject({ sha256: sha256(TUESDAY) })
  })

  it.each([
    ['waited', false],
    ['failed', true],
  ])(
    'its bytes, which had %s, are sent once when it belongs to its first feed again',
    async (_, fails) => {
      await using site = await Site.open({ feeds: feed('one') })
      const down = { at: 'service', kind: 'answer', status: 503, retryAfter: '600' } as const
      if (fails) site.sandbox.faults.add({ at: 'storage', kind: 'answer', status: 413, times: 1 })
      else site.sandbox.faults.add(down)
      const first = await site.daemon()
      site.drop('jobs.xml', MONDAY)
      if (fails) await site.until('one', 'failed')
      else await site.untilWaiting('one')
      if (fails) site.sandbox.faults.add(down)
      const second = await restarted(site, first, feed('two'))
      site.drop('jobs.xml', MONDAY)
      await site.until('one', 'superseded')
      await restarted(site, second, feed('one'))

      // The version of feed `one` might be sent before this test looks again; the one of feed `two` waits for 600 s.
      site.sandbox.faults.clear()
      site.drop('jobs.xml', MONDAY)
      const { sha256: waits } = await site.until('two', 'superseded')
      await site.run('retry', '--all')
      await site.until('one', 'uploaded', sha256(MONDAY))

      expect(waits).toBe(sha256(MONDAY))
      expect(site.sandbox.objects()).toHaveLength(1)
    },
  )
})
