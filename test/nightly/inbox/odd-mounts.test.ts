// File systems that keep less than Linux promises, as real mounts (FUSE).

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { NO_FUSE, OddMount } from '../../helpers/fuse/odd-mount.ts'
import { filesIn } from '../../helpers/inbox/files-in.ts'
import { statusOf, untilSkipped } from '../../helpers/look.ts'
import { feedOf, preload, Site } from '../../helpers/site.ts'

const title = `a mount${NO_FUSE === null ? '' : ` (skipped: ${NO_FUSE})`}`

/** tasksAndMemory returns the number of threads of a process, and its resident memory in MB. */
function tasksAndMemory(pid = 0): { threads: number; megabytes: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const number = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1])
  return { threads: number('Threads'), megabytes: Math.round(number('VmRSS') / 1024) }
}

const letters = (n: number) => [...String(n)].map((digit) => 'abcdefghij'[Number(digit)]).join('')

describe.skipIf(NO_FUSE !== null)(title, () => {
  it('that makes inodes from paths: a feed is archived, and nothing is wrong', async () => {
    await using site = await Site.open({
      inbox: { afterUpload: 'archive', archiveDirectory: './archive', incompleteAfter: '1s' },
    })
    await using mount = await OddMount.at(site.inbox)
    mount.set('path-inodes')
    const daemon = await site.daemon()
    site.drop('jobs.xml', feedOf(3))

    await site.until('jobs.xml', 'uploaded')
    await site.logged(daemon, '"file.archived"')

    expect(filesIn(mount.base)).toEqual([])
    expect(filesIn(join(site.root, 'archive'))).toHaveLength(1)
    expect(statusOf(site).problems).toEqual([])
  })

  it.each(['jitter-mtime', 'jitter-inode'] as const)(
    'with %s: a feed is sent, once',
    async (rule) => {
      await using site = await Site.open({ inbox: { incompleteAfter: '3s' } })
      await using mount = await OddMount.at(site.inbox)
      mount.set(rule)
      await site.daemon()
      site.drop('jobs.xml', feedOf(3))

      await site.until('jobs.xml', 'uploaded')
      await site.passed('jobs.xml', 'seen')

      expect(site.uploads({ all: true })).toHaveLength(1)
    },
  )

  it.each(['9223372036', '-9000000000000', '4611686018427387904'])(
    'that tells the modification time %s: its feeds are sent, and each command answers',
    async (seconds) => {
      await using site = await Site.open()
      await using mount = await OddMount.at(site.inbox)
      mount.set('mtime', seconds)
      await site.daemon()
      for (const name of ['a.xml', 'b.xml']) site.drop(name, feedOf(3))

      for (const name of ['a.xml', 'b.xml']) await site.until(name, 'uploaded')
      for (const command of [['status'], ['show', 'a.xml'], ['status', '--check']])
        expect(await site.run(...command)).toMatchObject({ code: 0 })
    },
  )

  it('whose server stops answering: 200 feeds beside it are delivered within a minute, and it costs at most three threads', async () => {
    await using site = await Site.open({ inbox: { rescan: '5s' } })
    await using mount = await OddMount.at(site.inbox)
    site.drop('hung/jobs.xml', feedOf(2))
    const daemon = await site.daemonProcess()
    await site.until('hung/jobs.xml', 'uploaded')
    const before = tasksAndMemory(daemon.pid)
    mount.set('hang-list')
    await untilSkipped(site, 'hung/')
    const began = performance.now()
    const names = Array.from({ length: 200 }, (_, n) => `feed-${letters(n)}.xml`)
    for (const name of names) writeFileSync(join(mount.base, name), feedOf(2))

    for (const name of names) await site.until(name, 'uploaded')

    const seconds = (performance.now() - began) / 1000
    const after = tasksAndMemory(daemon.pid)
    console.log('200 feeds beside a hung mount:', Math.round(seconds), 's', { before, after })
    expect(seconds).toBeLessThan(60)
    expect(after.threads - before.threads).toBeLessThanOrEqual(3)
    expect(statusOf(site).problems.filter(({ subject }) => subject.kind === 'service')).toEqual([])
    mount.clear('hang-list')
    await eventually(() => expect(statusOf(site).skipped).toEqual([]))
    expect(readdirSync(site.inbox)).toContain('hung')
  })

  it('with one file whose read hangs: it is skipped, twenty feeds beside it are sent, and it is sent when it can be read', async () => {
    await using site = await Site.open({ inbox: { rescan: '5s' } })
    await using mount = await OddMount.at(site.inbox)
    mount.set('hang-read')
    // A minute takes 6 s.
    site.env = preload('fast-time.ts')
    const daemon = await site.daemonProcess()
    site.drop('hung.xml', feedOf(2))
    const names = Array.from({ length: 20 }, (_, n) => `feed-${letters(n)}.xml`)
    for (const name of names) site.drop(name, feedOf(2))

    const { reason } = await untilSkipped(site, 'hung.xml')
    for (const name of names) await site.until(name, 'uploaded')
    console.log('one hung read:', tasksAndMemory(daemon.pid))
    mount.clear('hang-read')
    await site.until('hung.xml', 'uploaded')

    expect(reason).toContain('a read hangs')
  })

  it('where another program has a file open: it is skipped with a reason and a hint, and sent when it is closed', async () => {
    await using site = await Site.open()
    await using mount = await OddMount.at(site.inbox)
    mount.set('busy', '16')
    await site.daemon()
    site.drop('busy.xml', feedOf(2))

    const { hint, reason } = await untilSkipped(site, 'busy.xml')
    mount.clear('busy')
    await site.until('busy.xml', 'uploaded')

    expect([reason, hint]).toEqual([
      'it is open in another program (EBUSY)',
      'feedsyncd tries again; if this lasts, close it in that program',
    ])
  })
})
