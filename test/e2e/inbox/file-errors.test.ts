// Errors of single files, with a running daemon on a failing file system.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { FaultyFiles, type FileFault, NO_COMPILER } from '../../helpers/faulty-files.ts'
import { pathReportOf, statusOf, trail, untilSkipped } from '../../helpers/look.ts'
import { feedOf, finished, preload, Site } from '../../helpers/site.ts'

const title = `an error of the moment${NO_COMPILER === null ? '' : ` (skipped: ${NO_COMPILER})`}`

/** lyingSite opens a site whose file system fails as the test says, with clocks that run ten times as fast. */
async function lyingSite(config: Record<string, unknown> = {}) {
  const site = await Site.open(config)
  const files = new FaultyFiles(site.root)
  site.env = { ...files.env, ...preload('fast-time.ts') }
  return { site, files }
}

describe.skipIf(NO_COMPILER !== null)(title, () => {
  const errors: [FileFault, 'open' | 'read'][] = [
    ['EIO', 'open'],
    ['EIO', 'read'],
    ['ESTALE', 'open'],
    ['ESTALE', 'read'],
    ['ETIMEDOUT', 'read'],
    ['ENXIO', 'read'],
    ['EMFILE', 'open'],
    ['ENFILE', 'open'],
    ['ENOMEM', 'open'],
  ]

  it('at open or read is shown with hint and time, and each file is sent after the error is over', async () => {
    const { site, files } = await lyingSite()
    await using _site = site
    const names = errors.map(([error, call]) => `${error}-${call}.xml`)
    for (const [n, name] of names.entries()) {
      const [error, call] = errors[n] ?? expect.fail()
      files.fail(call, name, error)
      site.drop(name, feedOf(2 + n))
    }
    await site.daemonProcess()

    const skipped = await Promise.all(names.map((name) => untilSkipped(site, name)))
    const meanwhile = [site.uploads(), statusOf(site).skipped.length, await site.run('status')]
    files.clearFaults()
    await Promise.all(names.map((name) => site.until(name, 'uploaded')))

    expect(meanwhile).toMatchObject([[], names.length, { stdout: expect.any(String) }])
    for (const [n, { hint, path, reason, since }] of skipped.entries()) {
      expect(reason).toContain(`(${errors[n]?.[0]})`)
      expect(JSON.stringify(meanwhile)).toContain(path)
      expect(hint).toEqual(expect.any(String))
      expect(Date.parse(since ?? '')).toBeGreaterThan(0)
    }
    expect(statusOf(site).skipped).toEqual([])
  })

  it('is not reported for a short read or for a failing close after the read, and the feed is sent whole at once', async () => {
    const { site, files } = await lyingSite()
    await using _site = site
    files.shortenReads()
    files.fail('close', 'c.xml', 'EIO')
    await site.daemonProcess()
    const feeds = { 'a.xml': feedOf(40), 'b.xml': feedOf(2000), 'c.xml': feedOf(2) }
    for (const [name, feed] of Object.entries(feeds)) site.drop(name, feed)

    const uploads = await Promise.all(
      Object.keys(feeds).map((name) => site.until(name, 'uploaded')),
    )

    const hash = (text: string) => createHash('sha256').update(text).digest('hex')
    expect(uploads.map(({ sha256 }) => sha256)).toEqual(Object.values(feeds).map(hash))
    for (const { attempts, feed, reason } of uploads) {
      expect([attempts, reason]).toEqual([1, null])
      expect(site.events(feed).map(({ to }) => to)).not.toContain('incomplete')
    }
  })

  it('at the last look at an incomplete file does not reject it, and the next look does', async () => {
    const { site, files } = await lyingSite({ inbox: { incompleteAfter: '1h' } })
    await using _site = site
    writeFileSync(join(site.inbox, 'jobs.xml'), '<source><job>')
    await site.daemonProcess()
    await site.until('jobs.xml', 'incomplete')
    files.fail('open', 'jobs.xml', 'EIO')
    // End the deadline only now, after the file fails.
    site.expire('jobs.xml')
    const { reason: why } = await untilSkipped(site, 'jobs.xml')
    const [meanwhile] = site.uploads()
    files.clearFaults()

    const { id, reason } = await site.until('jobs.xml', 'rejected')

    expect(why).toContain('EIO')
    expect(meanwhile).toMatchObject({ id, state: 'incomplete' })
    expect(reason).toContain('the document ends early')
    expect(statusOf(site).skipped).toEqual([])
  })

  it('leaves its feed unchanged and hides no other feed; the daemon names the time and looks again', async () => {
    const { site, files } = await lyingSite()
    await using _site = site
    await site.daemonProcess()
    site.drop('closed.xml', feedOf(2))
    const { id } = await site.until('closed.xml', 'uploaded')
    files.fail('look', 'new.xml', 'EACCES')
    files.fail('open', 'closed.xml', 'EACCES')
    for (const name of ['closed.xml', 'new.xml', 'open.xml']) site.drop(name, feedOf(3))

    await site.until('open.xml', 'uploaded')
    const closed = await untilSkipped(site, 'closed.xml')
    await untilSkipped(site, 'new.xml')
    const versions = site.uploads({ all: true }).map(({ feed, state }) => `${feed} ${state}`)
    const { because } = await pathReportOf(site, 'closed.xml')
    const listedAt = statusOf(site).daemon.lastScanAt
    await eventually(() => expect(statusOf(site).daemon.lastScanAt).not.toBe(listedAt))
    const later = await untilSkipped(site, 'closed.xml')
    const events = site.events('closed.xml').length
    files.clearFaults()
    await site.until('new.xml', 'uploaded')
    const next = await eventually(() => {
      const [upload] = site.uploads({ feed: 'closed.xml' })
      return upload?.id === id ? expect.fail('not read yet') : upload
    })

    expect(closed.reason).toBe('it may not be read by this user (EACCES)')
    expect(versions).toEqual(['open.xml uploaded', 'closed.xml uploaded'])
    expect(because).toBe(`${closed.reason}; its version ${id} is uploaded`)
    expect(later.since).toBe(closed.since)
    expect(events).toBe(trail(site, id).length)
    expect(next?.postings).toBe(3)
    await eventually(() => expect(statusOf(site).skipped).toEqual([]))
  })

  it('at a directory skips it, in status without control characters, and makes or ends no version', async () => {
    const { site, files } = await lyingSite({ feeds: [{ match: '{1}/*.xml', name: '{1}' }] })
    await using _site = site
    const hostile = 'x\nMAINPID=1\x1b[2J\u202e'
    // A daemon that is more than a minute ahead of `status --check` would be another problem.
    site.env.FEEDSYNCD_TIME_FACTOR = '2'
    await site.daemonProcess()
    site.drop('west/jobs.xml', feedOf(8))
    mkdirSync(join(site.inbox, hostile))
    await site.until('west', 'uploaded')
    site.drop('west/jobs.xml', feedOf(1))
    const held = await site.until('west', 'held')

    for (const [error, name] of [
      ['EIO', 'west'],
      ['EACCES', 'west'],
      ['ESTALE', hostile],
    ] as const) {
      files.fail('list', name, error)
      const { reason } = await untilSkipped(site, `${name}/`)
      const check = await site.run('status', '--check')
      const said = [check, await site.run('status')].map(({ stdout }) => stdout).join('')
      files.clearFaults()
      await eventually(() => expect(statusOf(site).skipped).toEqual([]))

      expect(reason).toContain(`(${error})`)
      expect([check.code, said]).toEqual([1, expect.stringContaining(reason)])
      for (const harm of ['\x1b[2J', '\u202e', '\nMAINPID']) expect(said).not.toContain(harm)
    }
    const meanwhile = site.uploads({ all: true }).map(({ id, state }) => [id, state])
    site.drop('west/more.xml', feedOf(9))
    await site.until('west', 'uploaded')

    expect(meanwhile).toEqual([
      [held.id, 'held'],
      [1, 'uploaded'],
    ])
  })

  it('at an entry without a kind skips this entry and ends no version; feeds with odd names are sent, and only a link and a name that is not UTF-8 stay skipped', async () => {
    const { site, files } = await lyingSite()
    await using _site = site
    files.hideTypes()
    const bytes = (name: string) => Buffer.from(`${site.inbox}/${name}`, 'latin1')
    // A directory whose name is the bytes of "é.xml" read as Latin-1.
    mkdirSync(join(site.inbox, 'Ã©.xml'))
    writeFileSync(bytes('caf\xE9.xml'), feedOf(2))
    symlinkSync('/etc', join(site.inbox, 'link'))
    const names = ['plain.xml', 'é.xml', 'sub/求人.xml', 'sub/sub/jobs.xml']
    for (const name of names) site.drop(name, feedOf(2))
    site.drop('west/broken.xml', '<a></b>')
    site.drop('west/cut.xml', '<source>')
    await site.daemonProcess()
    for (const name of names) await site.until(name, 'uploaded')
    await site.until('west/broken.xml', 'rejected')
    await site.until('west/cut.xml', 'incomplete')
    const states = () => site.uploads().map(({ path, state }) => `${path} ${state}`)
    const skipped = () => statusOf(site).skipped.map(({ path }) => path)
    const before = states()

    files.fail('look', 'west', 'ESTALE')
    await eventually(() => expect(skipped()).toEqual(['./caf%E9.xml', 'link', 'west']))
    const meanwhile = states()
    const ignored = statusOf(site).daemon.ignored.count
    files.clearFaults()
    await eventually(() => expect(skipped()).toEqual(['./caf%E9.xml', 'link']))

    expect(before).toHaveLength(names.length + 2)
    expect(meanwhile).toEqual(before)
    expect(ignored).toBe(0)
    expect(site.sandbox.objects()).toHaveLength(names.length)
  })
})

describe.skipIf(process.getuid?.() !== 0)('a file that the daemon’s user may not read', () => {
  const USER = 65_534
  const GROUP = 65_533
  const as = (group: number) => ['setpriv', `--reuid=${USER}`, `--regid=${group}`, '--clear-groups']

  it('is skipped, which `run --once` reports, and is read after a start with a group that may read it', async () => {
    await using site = await Site.open()
    const state = join(site.root, 'state')
    mkdirSync(state)
    for (const path of [site.root, state, join(site.root, 'service.key')])
      chownSync(path, USER, USER)
    site.drop('jobs.xml', feedOf(2))
    chownSync(join(site.inbox, 'jobs.xml'), 0, GROUP)
    chmodSync(join(site.inbox, 'jobs.xml'), 0o640)

    const refused = await finished(site.spawnBy(as(USER), 'run', '--once'))
    const [versions, { skipped }] = [site.uploads(), statusOf(site)]
    const taken = await finished(site.spawnBy(as(GROUP), 'run', '--once'))

    expect([refused.code, taken.code]).toEqual([3, 0])
    expect([versions, skipped]).toMatchObject([
      [],
      [{ path: 'jobs.xml', reason: 'it may not be read by this user (EACCES)' }],
    ])
    expect(await site.until('jobs.xml', 'uploaded')).toMatchObject({ postings: 2 })
    expect(statusOf(site).skipped).toEqual([])
  })
})

it('a missing /proc is named as the reason, and the file is not called missing', async (context) => {
  const without = ['--user', '--map-root-user', '--mount', 'sh', '-c']
  const hide = 'mount -t tmpfs none /proc; exec "$@"'
  const canHide = spawnSync('unshare', [...without, hide, 'sh', 'true']).status === 0
  context.skip(!canHide, 'this user may not make user namespaces')
  await using site = await Site.open()
  site.drop('sub/jobs.xml', feedOf(2))
  const file = join(site.inbox, 'sub/jobs.xml')

  const check = site.spawnBy(['unshare', ...without, hide, 'sh'], 'check', file)
  const { code, stdout } = await finished(check)

  expect(code).toBe(1)
  expect(stdout).toContain('/proc is not mounted')
  expect(stdout).not.toContain('ENOENT')
})
