// What watched folders teach, lessons 9 to 11 and 13 to 15, each against a running daemon: what
// storage and service answer (at length in the fault tests), the folder itself, and what is told.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { STATES } from '../../../src/history/states.ts'
import { eventually } from '../../helpers/eventually.ts'
import { statusOf } from '../../helpers/look.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, SECRET, Site } from '../../helpers/site.ts'

const MINUTE = 60_000
/** A user namespace has limits of its own, so that a watch can be made to fail for real. */
const IN_NAMESPACE = ['--user', '--map-root-user', 'sh', '-c']
const LIMIT = 'echo 4 > /proc/sys/user/max_inotify_watches'
const canLimitWatches = () => spawnSync('unshare', [...IN_NAMESPACE, LIMIT]).status === 0
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')

it('lesson 9: an answer that is lost is an unknown outcome, shown as such, and the feed is sent again', async () => {
  await using site = await Site.open()
  site.sandbox.faults.add({
    ...({ at: 'storage', kind: 'lose-answer', stored: true, how: 'rst', times: 1 } as const),
  })
  await site.daemon()

  site.drop('jobs.xml', feedOf(3))
  const { id } = await site.until('jobs.xml', 'uploaded')

  expect(site.show(id).attempts.map(({ outcome }) => outcome)).toEqual(['unknown', 'stored'])
  expect(site.uploads({ all: true })).toHaveLength(1)
  expect(new Set(site.sandbox.objects().map((object) => object.sha256))).toEqual(
    new Set([sha256(feedOf(3))]),
  )
})

describe('lesson 10: a form for each attempt', () => {
  it('an expired form is replaced, and no form field is logged', async () => {
    await using site = await Site.open({ log: { level: 'trace' } })
    site.sandbox.faults.add({ at: 'service', kind: 'form', lifetimeMs: -1, times: 1 })
    const daemon = await site.daemon()

    site.drop('jobs.xml', feedOf(3))
    await site.until('jobs.xml', 'uploaded')

    const forms = site.sandbox.requests().filter(({ route }) => route.startsWith('presign'))
    expect(forms).toHaveLength(2)
    await eventually(() => expect(daemon.output).toContain('"state":"uploaded"'))
    expect(daemon.output).not.toMatch(/x-store-signature|security-token|"policy"/)
  })

  it('a service clock that is 20 min ahead is followed, and told in status', async () => {
    await using site = await Site.open()
    site.sandbox.faults.add({ at: 'service', kind: 'date', skewMs: 20 * MINUTE })
    await site.daemon()

    site.drop('jobs.xml', feedOf(3))
    await site.until('jobs.xml', 'uploaded')

    await eventually(() => {
      expect(Math.round((statusOf(site).service.clockSkewMs ?? 0) / MINUTE)).toBe(20)
    })
  })
})

describe('lesson 11: four classes of errors, four behaviours', () => {
  it('transient: it backs off, and is sent when the trouble is over', async () => {
    await using site = await Site.open()
    site.sandbox.faults.add({ at: 'storage', kind: 's3-error', code: 'InternalError', times: 1 })
    await site.daemon()

    site.drop('jobs.xml', feedOf(3))

    expect((await site.until('jobs.xml', 'uploaded')).attempts).toBe(2)
  })

  it('this file: it has failed with the reason, and others go on', async () => {
    await using site = await Site.open({}, { contentLengthRange: [1, 1000] })
    await site.daemon()

    site.drop('large.xml', feedOf(100))
    site.drop('small.xml', feedOf(2))
    const { reason } = await site.until('large.xml', 'failed')
    await site.until('small.xml', 'uploaded')

    expect(reason).toMatch(/larger|at most|1,?000/)
  })

  it('credentials: everything pauses after one refusal, until the key file changes', async () => {
    await using site = await Site.open()
    const key = join(site.root, 'service.key')
    const right = `${SECRET}\n`
    writeFileSync(key, 'wrong\n')
    await site.daemon()

    site.drop('jobs.xml', feedOf(3))
    await eventually(() => {
      expect(statusOf(site).service.state).toBe('credentials')
    })
    writeFileSync(key, right)
    const upload = await site.until('jobs.xml', 'uploaded')

    expect(site.show(upload.id).attempts.map(({ outcome }) => outcome)).toEqual([
      'refused',
      'stored',
    ])
    await eventually(() => expect(statusOf(site).service.state).toBe('ok'))
  })

  it('endpoint down: the breaker opens for all feeds, and closes automatically', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    const outage = site.sandbox.faults.add({ at: 'service', kind: 'answer', status: 503 })
    await site.daemon()

    for (const name of ['a.xml', 'b.xml', 'c.xml']) site.drop(name, feedOf(3))
    await eventually(() => {
      expect(statusOf(site).service.state).toBe('down')
    })
    outage.remove()
    for (const name of ['a.xml', 'b.xml', 'c.xml']) await site.until(name, 'uploaded')

    expect(site.sandbox.objects()).toHaveLength(3)
  })
})

describe('lesson 13: the folder itself is guarded', () => {
  const MOVED_AWAY: [string, RegExp, (site: Site) => void][] = [
    ['deleted', /does not exist \(ENOENT\)/, (site) => rmSync(site.inbox, { recursive: true })],
    [
      'renamed',
      /does not exist \(ENOENT\)/,
      (site) => renameSync(site.inbox, join(site.root, 'old')),
    ],
    [
      'replaced by a file',
      /is not a directory \(ENOTDIR\)/,
      (site) => {
        rmSync(site.inbox, { recursive: true })
        writeFileSync(site.inbox, 'not a folder')
      },
    ],
    [
      'replaced by a link in a circle',
      /leads in a circle of links \(ELOOP\)/,
      (site) => {
        rmSync(site.inbox, { recursive: true })
        symlinkSync(site.inbox, site.inbox)
      },
    ],
  ]

  it.each(MOVED_AWAY)(
    '%s: a named state, nothing forgotten, and back automatically',
    async (_, reason, harm) => {
      await using site = await Site.open()
      await site.daemon()
      site.drop('jobs.xml', feedOf(3))
      writeFileSync(join(site.inbox, 'slow.xml'), '<source>')
      await site.until('jobs.xml', 'uploaded')
      await site.until('slow.xml', 'incomplete')

      harm(site)
      await eventually(() => {
        expect(statusOf(site).daemon.conditions).toMatchObject([
          { message: expect.stringMatching(reason) },
        ])
      })
      const check = await site.run('status', '--check')
      const states = site.uploads().map(({ state }) => state)
      rmSync(site.inbox, { recursive: true, force: true })
      mkdirSync(site.inbox)
      site.drop('new.xml', feedOf(4))
      await site.until('new.xml', 'uploaded')
      await site.until('slow.xml', 'gone')

      expect(check).toMatchObject({
        code: 2,
        stdout: expect.stringMatching(/^CRITICAL - the folder/),
      })
      expect(states).toEqual(['incomplete', 'uploaded'])
      await eventually(() => {
        expect(statusOf(site).daemon).toMatchObject({ conditions: [], mode: 'events' })
      })
      expect(site.sandbox.objects()).toHaveLength(2)
    },
  )

  it('swapped for another by rename: what is in the new one is taken, at once and later', async () => {
    await using site = await Site.open({ inbox: { rescan: '1s' } })
    await site.daemon()
    site.drop('jobs.xml', feedOf(3))
    await site.until('jobs.xml', 'uploaded')
    const next = join(site.root, 'next')
    mkdirSync(next)
    writeFileSync(join(next, 'jobs.xml'), feedOf(3))
    writeFileSync(join(next, 'new.xml'), feedOf(4))

    renameSync(site.inbox, join(site.root, 'old'))
    renameSync(next, site.inbox)
    await site.until('new.xml', 'uploaded')
    site.drop('later.xml', feedOf(5))
    await site.until('later.xml', 'uploaded')

    expect(site.uploads({ all: true })).toHaveLength(3)
    expect(site.sandbox.objects()).toHaveLength(3)
  })

  const OTHER_DISK = '/dev/shm'
  const hasOtherDisk =
    statSync(OTHER_DISK, { throwIfNoEntry: false })?.dev !== statSync(tmpdir()).dev
  if (hasOtherDisk) {
    it('unmounted: the empty directory below the mount proves nothing about its files', async () => {
      const mounted = mkdtempSync(join(OTHER_DISK, 'feedsyncd-'))
      onTestFinished(() => rmSync(mounted, { recursive: true }))
      await using site = await Site.open()
      const inbox = (target: string) => {
        rmSync(site.inbox, { recursive: true, force: true })
        symlinkSync(target, site.inbox)
      }
      const below = join(site.root, 'below')
      mkdirSync(below)
      inbox(mounted)
      await site.daemon()
      writeFileSync(join(mounted, 'slow.xml'), feedOf(3).slice(0, 99))
      await site.until('slow.xml', 'incomplete')

      inbox(below)
      await eventually(() => {
        const [condition] = statusOf(site).daemon.conditions
        expect(condition?.message).toMatch(/is empty and on another file system than before/)
      })
      const [unmounted] = site.uploads()
      inbox(mounted)
      writeFileSync(join(mounted, 'slow.xml'), feedOf(3))
      await site.until('slow.xml', 'uploaded')

      expect(unmounted?.state).toBe('incomplete')
    })
  }
})

describe('lesson 14: the mode is picked automatically', () => {
  it('is shown, and why, until the folder can be watched', async () => {
    await using site = await Site.open()
    rmSync(site.inbox, { recursive: true })
    await site.daemon()
    const before = statusOf(site).daemon

    mkdirSync(site.inbox)
    await eventually(() => {
      expect(statusOf(site).daemon).toMatchObject({ mode: 'events', modeReason: null })
    })

    expect(before).toMatchObject({
      mode: 'poll',
      modeReason: expect.stringMatching(/does not exist/),
    })
  })

  if (canLimitWatches()) {
    it('becomes polling with the way out when a watch breaks, and feeds go on', async () => {
      await using site = await Site.open()
      site.spawnBy(['unshare', ...IN_NAMESPACE, `${LIMIT}; exec "$@"`, 'sh'], 'run')
      await eventually(() => expect(statusOf(site).daemon.mode).toBe('events'))

      for (let n = 0; n < 9; n++) site.drop(`${n}/jobs.xml`, feedOf(2))
      for (let n = 0; n < 9; n++) await site.until(`${n}/jobs.xml`, 'uploaded')
      await eventually(() => expect(statusOf(site).daemon.mode).toBe('poll'))

      expect(statusOf(site).daemon.modeReason).toMatch(
        /ENOSPC.*sysctl fs\.inotify\.max_user_watches/,
      )
    })
  }
})

describe('lesson 15: every file ends with a reason, and silence is an alarm', () => {
  it('each change is logged once, however often the folder is listed', async () => {
    await using site = await Site.open()
    const daemon = await site.daemon()
    site.drop('broken.xml', '<a></b>')
    await site.until('broken.xml', 'rejected')

    const scans = new Set<string | null>()
    await eventually(() => {
      scans.add(statusOf(site).daemon.lastScanAt)
      expect(scans.size).toBeGreaterThan(2)
    })

    const about = daemon.output.split('\n').filter((line) => line.includes('"rejected"'))
    expect(about).toHaveLength(1)
  })

  it('a state of the closed set and a time for each file that was ever listed', async () => {
    await using site = await Site.open()
    await site.daemon()
    site.drop('good.xml', feedOf(3))
    site.drop('empty.xml', '<source/>')
    site.drop('broken.xml', '<a></b>')
    mkdirSync(join(site.inbox, 'directory.xml'))
    symlinkSync('good.xml', join(site.inbox, 'link.xml'))
    await site.until('good.xml', 'uploaded')
    await site.until('link.xml', 'rejected')
    await site.until('empty.xml', 'held')
    await site.until('broken.xml', 'rejected')

    const { uploads } = statusOf(site)

    expect(uploads.map(({ feed }) => feed).sort()).toEqual([
      'broken.xml',
      'empty.xml',
      'good.xml',
      'link.xml',
    ])
    for (const { detectedAt, reason, state } of uploads) {
      expect(STATES).toContain(state)
      expect(detectedAt).toMatch(/Z$/)
      expect(state === 'uploaded' || reason).toBeTruthy()
    }
  })

  it('a feed that stays away is overdue in status and for monitoring, with the daemon down too', async () => {
    const nightly = { match: 'nightly/*.xml', name: 'nightly' }
    await using site = await Site.open(
      { feeds: [{ ...nightly, expectEvery: '10s' }] },
      { clock: quickClock() },
    )
    site.drop('nightly/a.xml', feedOf(3))
    site.drop('other.xml', feedOf(3))
    await site.run('run', '--once')
    const inTime = statusOf(site).uploads

    await eventually(() => {
      expect(statusOf(site).uploads.filter(({ overdue }) => overdue)).toHaveLength(1)
    })
    const { stdout } = await site.run('status')
    await site.daemon()
    const check = await site.run('status', '--check')
    site.configure({ feeds: [{ ...nightly, expectEvery: '26h' }] })
    const { uploads } = statusOf(site)

    expect(inTime.map(({ feed }) => feed).sort()).toEqual(['nightly', 'other.xml'])
    expect(stdout).toMatch(
      /^next: nightly \(\d+\): its next version was expected (just now|.* ago)/m,
    )
    expect(check.code).toBe(1)
    expect(check.stdout).toMatch(/^WARNING - nightly overdue: expected (just now|.* ago)\n$/)
    expect(uploads.map(({ overdue }) => overdue)).toEqual([false, false])
    expect(uploads.filter(({ expectedBy }) => expectedBy !== null)).toHaveLength(1)
  })
})
