// The folder disappears, is replaced, or cannot be watched: status reports it, nothing is forgotten, and the daemon
// continues when the folder is back.

import { spawnSync } from 'node:child_process'
import {
  existsSync,
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
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { statusOf } from '../../helpers/look.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

/** A user namespace has its own limits, so that a real watch can fail in it. */
const IN_NAMESPACE = ['--user', '--map-root-user', 'sh', '-c']
const LIMIT = 'echo 4 > /proc/sys/user/max_inotify_watches'

it('a folder that is deleted, renamed or replaced is a condition that ends when the folder is back, with nothing forgotten', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  await site.daemon()
  site.drop('jobs.xml', feedOf(3))
  writeFileSync(join(site.inbox, 'slow.xml'), '<source>')
  await site.until('jobs.xml', 'uploaded')
  await site.until('slow.xml', 'incomplete')
  const harms: [RegExp, () => void][] = [
    [/does not exist \(ENOENT\)/, () => {}],
    [/is not a directory \(ENOTDIR\)/, () => writeFileSync(site.inbox, 'not a folder')],
    [
      /leads through a link that cannot be followed \(ELOOP\)/,
      () => symlinkSync(site.inbox, site.inbox),
    ],
  ]

  for (const [reason, harm] of harms) {
    rmSync(site.inbox, { recursive: true, force: true })
    harm()
    await eventually(() => {
      const { conditions } = statusOf(site).daemon
      expect(conditions).toMatchObject([{ message: expect.stringMatching(reason) }])
    })
  }
  const check = await site.run('status', '--check')
  const states = site.uploads().map(({ state }) => state)
  rmSync(site.inbox)
  mkdirSync(site.inbox)
  site.drop('new.xml', feedOf(4))
  await site.until('new.xml', 'uploaded')
  await site.until('slow.xml', 'gone')

  expect(check).toMatchObject({ code: 2, stdout: expect.stringMatching(/^CRITICAL - the folder/) })
  expect(states).toEqual(['incomplete', 'uploaded'])
  await eventually(() => {
    expect(statusOf(site).daemon).toMatchObject({ conditions: [], mode: 'events' })
  })
  expect(site.sandbox.objects()).toHaveLength(2)
})

it('after a rename puts another folder in place, its new and later feeds are taken, and an unchanged feed is not sent again', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
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
const isOther = (path: string) => statSync(path).dev !== statSync(tmpdir()).dev
const hasOtherDisk = existsSync(OTHER_DISK) && isOther(OTHER_DISK)

it.runIf(hasOtherDisk)(
  'the empty directory of a missing mount is a condition, and its file is not gone but sent when the mount is back',
  async () => {
    const mounted = mkdtempSync(join(OTHER_DISK, 'feedsyncd-'))
    onTestFinished(() => rmSync(mounted, { recursive: true }))
    // Leave a second between two listings: a mount that is being read cannot be removed.
    await using site = await Site.open({ inbox: { rescan: '10s' } }, { clock: quickClock() })
    const inbox = (target: string) => {
      rmSync(site.inbox, { recursive: true, force: true })
      symlinkSync(target, site.inbox)
    }
    const listedAt = () => statusOf(site).daemon.lastScanAt
    const below = join(site.root, 'below')
    mkdirSync(below)
    inbox(mounted)
    await site.daemon()
    writeFileSync(join(mounted, 'slow.xml'), feedOf(3).slice(0, 99))
    await site.until('slow.xml', 'incomplete')
    const before = listedAt()
    await eventually(() => expect(listedAt()).not.toBe(before))

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
  },
)

it('status says that a missing folder is polled, and why, until a watch is possible', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
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

it('a folder with too many directories to watch is polled, and status names the limit to raise', async (context) => {
  const canLimit = spawnSync('unshare', [...IN_NAMESPACE, LIMIT]).status === 0
  context.skip(!canLimit, 'this user may not make user namespaces')
  await using site = await Site.open()
  site.spawnBy(['unshare', ...IN_NAMESPACE, `${LIMIT}; exec "$@"`, 'sh'], 'run')
  await eventually(() => expect(statusOf(site).daemon.mode).toBe('events'))

  for (let n = 0; n < 9; n++) site.drop(`${n}/jobs.xml`, feedOf(2))
  for (let n = 0; n < 9; n++) await site.until(`${n}/jobs.xml`, 'uploaded')
  await eventually(() => expect(statusOf(site).daemon.mode).toBe('poll'))

  expect(statusOf(site).daemon.modeReason).toMatch(/ENOSPC.*sysctl fs\.inotify\.max_user_watches/)
})

it('a mount that is gone and shows old files below it is a warning, which names its folder', async (context) => {
  await using site = await Site.open({}, { clock: quickClock() })
  const acme = join(site.inbox, 'acme')
  mkdirSync(acme)
  const mount = (...args: string[]) => spawnSync('mount', args).status === 0
  const isMounted = mount('-t', 'tmpfs', '-o', 'size=1m', 'feedsyncd', acme)
  context.skip(!isMounted, 'this user may not mount one')
  onTestFinished(() => void spawnSync('umount', ['-l', acme]))
  site.drop('acme/jobs.xml', feedOf(3))
  await site.daemon()
  await site.until('acme/jobs.xml', 'uploaded')

  spawnSync('umount', ['-l', acme])
  site.drop('acme/old.xml', feedOf(2))
  await eventually(() => {
    expect(statusOf(site).problems).toContainEqual(
      expect.objectContaining({ code: 'inbox-changed', severity: 'warning' }),
    )
  })
  const check = await site.run('status', '--check')

  expect(check).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(`${acme}/ is on another`),
  })
})
