// What an error at a file says about that file, against a running daemon whose file system fails.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { statusOf, trail, whyThere } from '../../helpers/look.ts'
import { type Lie, LyingFiles, NO_COMPILER } from '../../helpers/lying-files.ts'
import { feedOf, finished, preload, Site } from '../../helpers/site.ts'

const title = `an error of the moment${NO_COMPILER === null ? '' : ` (skipped: ${NO_COMPILER})`}`

/** A daemon whose file system fails as the test says. Its clocks run ten times as fast: it looks again sooner. */
async function lyingSite(config: Record<string, unknown> = {}) {
  const site = await Site.open(config)
  const files = new LyingFiles(site.root)
  site.env = { ...files.env, ...preload('fast-time.ts') }
  return { site, files }
}

describe.skipIf(NO_COMPILER !== null)(title, () => {
  const errors: [Lie, 'open' | 'read'][] = [
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

  it('at open and read is shown, and each file is sent once it is over', async () => {
    const { site, files } = await lyingSite()
    await using _site = site
    const names = errors.map(([error, call]) => `${error}-${call}.xml`)
    for (const [n, name] of names.entries()) {
      const [error, call] = errors[n] ?? expect.fail()
      files.fail(call, name, error)
      site.drop(name, feedOf(2 + n))
    }
    await site.daemonProcess()

    const failed = await Promise.all(
      errors.map(([error], n) =>
        eventually(() => {
          const [upload] = site.uploads({ feed: names[n] ?? '' })
          if (!upload?.reason?.includes(error)) throw new Error(JSON.stringify(upload))
          return upload
        }),
      ),
    )
    files.tellTheTruth()
    const sent = await Promise.all(names.map((name) => site.until(name, 'uploaded')))

    expect(sent.map(({ id }) => id)).toEqual(failed.map(({ id }) => id))
    for (const { id, state, hint, reason } of failed) {
      expect(state).toBe('settling')
      expect(hint).toContain('again')
      expect(reason).not.toContain('Unknown system error')
      expect(trail(site, id)).not.toContain('rejected')
    }
  })

  it('is neither a read that gives fewer bytes than were asked for, nor a failing close of what was read', async () => {
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

  it('at the last look at an incomplete file puts no end to it', async () => {
    const { site, files } = await lyingSite({ inbox: { incompleteAfter: '1h' } })
    await using _site = site
    writeFileSync(join(site.inbox, 'jobs.xml'), '<source><job>')
    await site.daemonProcess()
    await site.until('jobs.xml', 'incomplete')
    files.fail('open', 'jobs.xml', 'EIO')
    // Its deadline comes now, and not before the file fails.
    site.expire('jobs.xml')
    const { id } = await eventually(() => {
      const [upload] = site.uploads()
      if (!upload?.reason?.includes('EIO')) throw new Error(JSON.stringify(upload))
      return upload
    })
    files.tellTheTruth()

    const { reason } = await site.until('jobs.xml', 'rejected')

    expect(reason).toContain('the document ends early')
    expect(site.show(id).state).toBe('rejected')
  })

  it('is told from a file that may not be looked at or read: that one is rejected, and hides no other', async () => {
    const { site, files } = await lyingSite()
    await using _site = site
    files.fail('look', 'closed.xml', 'EACCES')
    files.fail('open', 'unreadable.xml', 'EACCES')
    for (const name of ['closed.xml', 'unreadable.xml', 'open.xml']) site.drop(name, feedOf(2))
    await site.daemonProcess()

    await site.until('open.xml', 'uploaded')
    const unreadable = await site.until('unreadable.xml', 'rejected')
    const closed = await site.until('closed.xml', 'rejected')
    files.tellTheTruth()
    await site.until('closed.xml', 'uploaded')

    expect(closed.reason).toContain('EACCES')
    expect(unreadable.reason).toContain('may not be read by this user')
  })

  it('at a directory is a condition in one line, and neither a version nor the end of one', async () => {
    const { site, files } = await lyingSite({ feeds: [{ match: '{1}/*.xml', name: '{1}' }] })
    await using _site = site
    const hostile = 'x\nMAINPID=1\x1b[2J\u202e'
    await site.daemonProcess()
    site.drop('west/jobs.xml', feedOf(8))
    mkdirSync(join(site.inbox, hostile))
    await site.until('west', 'uploaded')
    site.drop('west/jobs.xml', feedOf(1))
    const held = await site.until('west', 'held')
    const condition = () =>
      statusOf(site).daemon.conditions.find(({ code }) => code === 'directory-unreadable')

    for (const [error, name, shownName] of [
      ['EIO', 'west', 'west'],
      ['ESTALE', hostile, 'x\\nMAINPID=1\\u001b[2J\\u202e'],
    ] as const) {
      files.fail('list', name, error)
      const shown = await eventually(() => condition() ?? expect.fail('no condition'))
      const said = [await site.run('status'), await site.run('status', '--check')]
      files.tellTheTruth()
      await eventually(() => expect(condition()).toBeUndefined())

      expect(shown).toMatchObject({ severity: 'critical', hint: expect.any(String) })
      expect(shown.message).toBe(`${shownName}/ is a directory that cannot be listed (${error})`)
      for (const harm of ['\x1b[2J', '\u202e', '\nMAINPID'])
        expect(said.map(({ stdout }) => stdout).join('')).not.toContain(harm)
    }
    const meanwhile = site.uploads({ all: true }).map(({ id, state }) => [id, state])
    site.drop('west/more.xml', feedOf(9))
    await site.until('west', 'uploaded')

    expect(meanwhile).toEqual([
      [held.id, 'held'],
      [1, 'uploaded'],
    ])
  })

  it('at a directory that is closed for good rejects it; it is never moved, and is gone once it is open', async () => {
    const { site, files } = await lyingSite({
      feeds: [{ match: '**', name: 'all' }],
      inbox: { rescan: '1s', afterReject: 'quarantine', incompleteAfter: '1s', receipts: true },
    })
    await using _site = site
    files.fail('list', 'west', 'EACCES')
    mkdirSync(join(site.inbox, 'west'))
    await site.daemonProcess()
    const rejected = await site.until('west/', 'rejected')
    await eventually(() => {
      expect(Date.parse(statusOf(site).daemon.lastScanAt ?? '')).toBeGreaterThan(
        Date.parse(rejected.detectedAt ?? '') + 2_500,
      )
    })
    const meanwhile = readdirSync(site.inbox)
    const because = (await whyThere(site, 'west')).because
    files.tellTheTruth()
    const { reason } = await site.until('west/', 'gone')

    expect(rejected).toMatchObject({ feed: 'west/', path: 'west/', hint: expect.any(String) })
    expect(meanwhile).toEqual(['west'])
    expect(because).toContain('it is rejected as version 1: is a directory that cannot be listed')
    expect(reason).toMatch(/^it can be listed now, or is not there any more/)
  })

  it('at an entry whose kind the directory does not say ends nothing below it; names are bytes, and each feed is sent', async () => {
    const { site, files } = await lyingSite()
    await using _site = site
    files.hideTypes()
    const bytes = (name: string) => Buffer.from(`${site.inbox}/${name}`, 'latin1')
    // "é.xml" as its bytes look in Latin-1: a directory, which is another name.
    mkdirSync(join(site.inbox, 'Ã©.xml'))
    writeFileSync(bytes('caf\xE9.xml'), feedOf(2))
    symlinkSync('/etc', join(site.inbox, 'link'))
    const names = ['plain.xml', 'é.xml', 'sub/求人.xml', 'sub/sub/jobs.xml']
    for (const name of names) site.drop(name, feedOf(2))
    site.drop('west/broken.xml', '<a></b>')
    site.drop('west/cut.xml', '<source>')
    await site.daemonProcess()
    for (const name of names) await site.until(name, 'uploaded')
    await site.until('./caf%E9.xml', 'rejected')
    await site.until('west/broken.xml', 'rejected')
    await site.until('west/cut.xml', 'incomplete')
    const states = () => site.uploads().map(({ path, state }) => `${path} ${state}`)
    const before = states()

    files.fail('look', 'west', 'ESTALE')
    const codes = () => statusOf(site).daemon.conditions.map(({ code }) => code)
    await eventually(() => expect(codes()).toEqual(['directory-unreadable']))
    const meanwhile = states()
    const ignored = statusOf(site).daemon.ignored.count
    files.tellTheTruth()
    await eventually(() => expect(codes()).toEqual([]))

    expect(before).toHaveLength(names.length + 3)
    expect(meanwhile).toEqual(before)
    expect(ignored).toBe(0)
    expect(site.sandbox.objects()).toHaveLength(names.length)
  })
})

describe.skipIf(process.getuid?.() !== 0)('a file that the daemon’s user may not read', () => {
  const USER = 65_534
  const GROUP = 65_533
  const as = (group: number) => ['setpriv', `--reuid=${USER}`, `--regid=${group}`, '--clear-groups']

  it('is read after a start with the group that may read it', async () => {
    await using site = await Site.open()
    const state = join(site.root, 'state')
    mkdirSync(state)
    for (const path of [site.root, state, join(site.root, 'service.key')])
      chownSync(path, USER, USER)
    site.drop('jobs.xml', feedOf(2))
    chownSync(join(site.inbox, 'jobs.xml'), 0, GROUP)
    chmodSync(join(site.inbox, 'jobs.xml'), 0o640)

    const refused = await finished(site.spawnBy(as(USER), 'run', '--once'))
    const [rejected] = site.uploads()
    const again = await finished(site.spawnBy(as(USER), 'run', '--once'))
    const events = site.events('jobs.xml').length
    const taken = await finished(site.spawnBy(as(GROUP), 'run', '--once'))

    expect([refused.code, again.code, taken.code]).toEqual([3, 3, 0])
    expect(rejected).toMatchObject({ state: 'rejected', reasonCode: 'EACCES' })
    // Nothing says that the same user may read it now.
    expect(site.events('jobs.xml').slice(0, events).at(-1)?.to).toBe('rejected')
    expect(site.events('jobs.xml').filter(({ to }) => to === 'rejected')).toHaveLength(1)
    expect(await site.until('jobs.xml', 'uploaded')).toMatchObject({ id: rejected?.id })
  })
})

it('a host without /proc is named as the reason, and no file is taken for missing', async (context) => {
  const without = ['--user', '--map-root-user', '--mount', 'sh', '-c']
  const hide = 'mount -t tmpfs none /proc; exec "$@"'
  const canHide = spawnSync('unshare', [...without, hide, 'sh', 'true']).status === 0
  context.skip(!canHide, 'this user may not make user namespaces')
  await using site = await Site.open()
  site.drop('sub/jobs.xml', feedOf(2))
  const file = join(site.inbox, 'sub/jobs.xml')

  const check = site.spawnBy(['unshare', ...without, hide, 'sh'], 'check', file)
  const { code, stdout } = await finished(check)

  expect(code).toBe(3)
  expect(stdout).toContain('/proc is not mounted')
})
