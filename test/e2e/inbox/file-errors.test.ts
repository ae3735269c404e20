// What an error at a file says about that file, against a running daemon whose file system fails.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { statusOf } from '../../helpers/look.ts'
import { type Lie, LyingFiles, NO_COMPILER } from '../../helpers/lying-files.ts'
import { feedOf, finished, Site } from '../../helpers/site.ts'

const title = `an error of the moment${NO_COMPILER === null ? '' : ` (skipped: ${NO_COMPILER})`}`

describe.skipIf(NO_COMPILER !== null)(title, () => {
  const cases: [Lie, 'open' | 'read'][] = [
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

  it.each(cases)('%s at %s is shown, and the file is sent once it is over', async (error, call) => {
    await using site = await Site.open()
    const files = new LyingFiles(site.root)
    site.env = files.env
    files.fail(call, 'jobs.xml', error)
    await site.daemonProcess()
    site.drop('jobs.xml', feedOf(2))

    const failed = await eventually(() => {
      const [upload] = site.uploads()
      if (!upload?.reason?.includes(error)) throw new Error(JSON.stringify(upload))
      return upload
    })
    files.tellTheTruth()
    const { id } = await site.until('jobs.xml', 'uploaded')

    expect(failed).toMatchObject({ state: 'settling', hint: expect.stringContaining('again') })
    expect(failed.reason).not.toContain('Unknown system error')
    expect(id).toBe(failed.id)
    expect(site.show(id).events.map(({ to }) => to)).not.toContain('rejected')
  })

  it('is no read that gives fewer bytes than were asked for: the file is sent as it is', async () => {
    await using site = await Site.open()
    const files = new LyingFiles(site.root)
    site.env = files.env
    files.shortenReads()
    await site.daemonProcess()
    const feeds = [feedOf(40), feedOf(2000)]
    feeds.forEach((feed, n) => {
      site.drop(`${n}.xml`, feed)
    })

    const uploads = [await site.until('0.xml', 'uploaded'), await site.until('1.xml', 'uploaded')]

    const hash = (text: string) => createHash('sha256').update(text).digest('hex')
    expect(uploads.map(({ sha256 }) => sha256)).toEqual(feeds.map(hash))
    expect(uploads.map(({ attempts }) => attempts)).toEqual([1, 1])
    expect(site.events('0.xml').map(({ to }) => to)).not.toContain('incomplete')
  })

  it('at the last look at an incomplete file puts no end to it', async () => {
    await using site = await Site.open({ inbox: { incompleteAfter: '1h' } })
    const files = new LyingFiles(site.root)
    site.env = files.env
    writeFileSync(join(site.inbox, 'jobs.xml'), '<source><job>')
    const daemon = await site.daemonProcess()
    await site.until('jobs.xml', 'incomplete')
    files.fail('open', 'jobs.xml', 'EIO')
    // Its deadline comes now, and not before the file fails.
    site.configure({ inbox: { incompleteAfter: '1s' } })
    daemon.kill('SIGHUP')
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

  it('at the close of a file that was read says nothing about it', async () => {
    await using site = await Site.open()
    const files = new LyingFiles(site.root)
    site.env = files.env
    files.fail('close', 'jobs.xml', 'EIO')
    await site.daemonProcess()

    site.drop('jobs.xml', feedOf(2))

    const ended = await eventually(() => {
      const [upload] = site.uploads()
      expect(upload?.state).toMatch(/uploaded|failed/)
      return upload
    })
    expect(ended).toMatchObject({ state: 'uploaded', reason: null })
  })

  it('is told from a file that may not be looked at: that one is rejected, and hides no other', async () => {
    await using site = await Site.open()
    const files = new LyingFiles(site.root)
    site.env = files.env
    files.fail('look', 'closed.xml', 'EACCES')
    site.drop('closed.xml', feedOf(2))
    site.drop('open.xml', feedOf(3))
    await site.daemonProcess()

    await site.until('open.xml', 'uploaded')
    const closed = await site.until('closed.xml', 'rejected')
    files.tellTheTruth()
    await site.until('closed.xml', 'uploaded')

    expect(closed.reason).toContain('EACCES')
  })

  it.each(['EIO', 'ESTALE'] as const)(
    '%s at a folder is a condition, and neither a version nor the end of one',
    async (error) => {
      await using site = await Site.open({
        feeds: [{ match: '{1}/*.xml', name: '{1}' }],
        inbox: { rescan: '1s' },
      })
      const files = new LyingFiles(site.root)
      site.env = files.env
      await site.daemonProcess()
      site.drop('west/jobs.xml', feedOf(8))
      await site.until('west', 'uploaded')
      site.drop('west/jobs.xml', feedOf(1))
      const held = await site.until('west', 'held')

      files.fail('list', 'west', error)
      const condition = () =>
        statusOf(site).daemon.conditions.find(({ code }) => code === 'directory-unreadable')
      const shown = await eventually(() => {
        const found = condition()
        if (found === undefined) throw new Error('no condition')
        return found
      })
      const meanwhile = site.uploads({ all: true })
      site.drop('west/more.xml', feedOf(9))
      files.tellTheTruth()
      await site.until('west', 'uploaded')
      await eventually(() => expect(condition()).toBeUndefined())

      expect(shown).toMatchObject({ severity: 'critical', hint: expect.any(String) })
      expect(shown.message).toBe(`west/ is a directory that cannot be listed (${error})`)
      expect(meanwhile.map(({ id, state }) => [id, state])).toEqual([
        [held.id, 'held'],
        [1, 'uploaded'],
      ])
      expect(site.uploads({ all: true }).map(({ path }) => path)).toEqual([
        'west/more.xml',
        'west/jobs.xml',
        'west/jobs.xml',
      ])
    },
  )

  it('at the look at an entry of unknown kind ends nothing that may be below it', async () => {
    await using site = await Site.open({ inbox: { rescan: '1s' } })
    const files = new LyingFiles(site.root)
    site.env = files.env
    files.hideTypes()
    await site.daemonProcess()
    site.drop('west/broken.xml', '<a></b>')
    site.drop('west/cut.xml', '<source>')
    await site.until('west/broken.xml', 'rejected')
    await site.until('west/cut.xml', 'incomplete')

    files.fail('look', 'west', 'ESTALE')
    const codes = () => statusOf(site).daemon.conditions.map(({ code }) => code)
    await eventually(() => expect(codes()).toEqual(['directory-unreadable']))
    const meanwhile = site.uploads().map(({ path, state }) => `${path} ${state}`)
    const ignored = statusOf(site).daemon.ignored.count
    files.tellTheTruth()
    await eventually(() => expect(codes()).toEqual([]))

    expect(meanwhile.sort()).toEqual(['west/broken.xml rejected', 'west/cut.xml incomplete'])
    expect(ignored).toBe(0)
  })

  it('whose directory says no kinds of its entries: names are bytes, and each feed is sent', async () => {
    await using site = await Site.open()
    const files = new LyingFiles(site.root)
    site.env = files.env
    files.hideTypes()
    const bytes = (name: string) => Buffer.from(`${site.inbox}/${name}`, 'latin1')
    // "é.xml" as its bytes look in Latin-1: a directory, which is another name.
    mkdirSync(join(site.inbox, 'Ã©.xml'))
    writeFileSync(bytes('caf\xE9.xml'), feedOf(2))
    symlinkSync('/etc', join(site.inbox, 'link'))
    const names = ['plain.xml', 'é.xml', 'sub/求人.xml', 'sub/sub/jobs.xml']
    for (const name of names) site.drop(name, feedOf(2))
    await site.daemonProcess()

    for (const name of names) await site.until(name, 'uploaded')
    await site.until('./caf%E9.xml', 'rejected')

    expect(site.uploads()).toHaveLength(names.length + 1)
    expect(site.sandbox.objects()).toHaveLength(names.length)
  })

  it('that a person has to correct rejects the file, until its permissions change', async () => {
    await using site = await Site.open()
    const files = new LyingFiles(site.root)
    site.env = files.env
    files.fail('open', 'jobs.xml', 'EACCES')
    await site.daemonProcess()
    site.drop('jobs.xml', feedOf(2))

    const { reason } = await site.until('jobs.xml', 'rejected')

    expect(reason).toContain('may not be read by this user')
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

const WITHOUT_PROC = ['--user', '--map-root-user', '--mount', 'sh', '-c']
const HIDE = 'mount -t tmpfs none /proc; exec "$@"'
const canHideProc = spawnSync('unshare', [...WITHOUT_PROC, HIDE, 'sh', 'true']).status === 0

describe.skipIf(!canHideProc)(
  `a host without /proc${canHideProc ? '' : ' (skipped: no user namespaces here)'}`,
  () => {
    it('is named as the reason, and no file is taken for missing', async () => {
      await using site = await Site.open()
      site.drop('sub/jobs.xml', feedOf(2))
      const file = join(site.inbox, 'sub/jobs.xml')

      const check = site.spawnBy(['unshare', ...WITHOUT_PROC, HIDE, 'sh'], 'check', file)
      const { code, stdout } = await finished(check)

      expect(code).toBe(3)
      expect(stdout).toContain('/proc is not mounted')
    })
  },
)
