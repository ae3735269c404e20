// The database, its log or its whole directory disappears under a running daemon. The daemon stops at once and says so,
// and its uploads are on record at the next start.

import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventuallyTrue } from '../../helpers/eventually.ts'
import { feedOf, finished, Site } from '../../helpers/site.ts'
import { mountedDisk } from '../../helpers/small-disk.ts'

/** harmed runs `harm` beside a daemon that has sent two feeds, and returns how the daemon ended. */
async function harmed(site: Site, harm: () => void) {
  const daemon = await site.daemonProcess()
  for (const name of ['a.xml', 'b.xml']) {
    site.drop(name, feedOf(3, name))
    await site.until(name, 'uploaded')
  }
  const ended = finished(daemon)
  harm()
  const { code, stderr } = await ended
  const check = await site.run('status', '--check')
  return { code, stderr, check }
}

/** goesOn checks that a new daemon sends a new feed, and none of the earlier feeds again. */
async function goesOn(site: Site): Promise<void> {
  await site.daemonProcess()
  site.drop('c.xml', feedOf(4))
  await eventuallyTrue(() => site.uploads({ feed: 'c.xml' })[0]?.state === 'uploaded')
  expect(site.uploads().map(({ id, state }) => `${id} ${state}`)).toEqual([
    ...['3 uploaded', '2 uploaded', '1 uploaded'],
  ])
  expect(site.sandbox.objects()).toHaveLength(3)
}

const remove = (site: Site, ...ends: string[]) => {
  for (const end of ends) rmSync(join(site.root, 'state', `feedsyncd.db${end}`))
}

describe.concurrent('a daemon stops', () => {
  it.each([[['-wal']], [['-wal', '-shm']], [['-shm']]])(
    'when %s is deleted, with exit 78 and the file in its reason and in status --check, loses nothing, and can be started again',
    async (ends) => {
      await using site = await Site.open()

      const { code, stderr, check } = await harmed(site, () => remove(site, ...ends))

      const reason = `feedsyncd.db${ends[0]} was deleted, replaced or moved away while feedsyncd ran`
      expect(code).toBe(78)
      expect(stderr).toContain(reason)
      expect(check.code).toBe(2)
      expect(check.stdout).toContain(reason)
      await goesOn(site)
      expect((await site.run('status', '--check')).code).toBe(0)
    },
  )

  it('when its database is deleted, with a reason that status --check repeats', async () => {
    await using site = await Site.open()

    const { code, stderr, check } = await harmed(site, () => remove(site, '', '-wal', '-shm'))

    expect(code).toBe(78)
    expect(stderr).toMatch(
      /^error: .*feedsyncd\.db was deleted, replaced or moved away.*\ntry: .+\n$/,
    )
    expect(check.code).toBe(2)
    expect(check.stdout).toContain('feedsyncd.db was deleted, replaced or moved away')
  })

  it('when its lock is deleted, names it, and a second daemon sends the version whose end is unknown', async () => {
    await using site = await Site.open()
    const gate = site.sandbox.faults.add({ at: 'storage', kind: 'gate', point: 'headers' })
    const ended = finished(await site.daemonProcess())
    site.drop('a.xml', feedOf(3))
    await gate.held()

    rmSync(join(site.root, 'state', 'daemon.lock'))
    await site.daemonProcess()
    const { code, stderr } = await ended
    gate.remove()
    await site.until('a.xml', 'uploaded')

    expect(code).toBe(78)
    expect(stderr).toContain('daemon.lock was deleted, replaced or moved away while feedsyncd ran')
    const attempts = site.show(1).attempts.map(({ outcome }) => outcome)
    expect(attempts).toEqual(['unknown', 'stored'])
  })

  it('when another file replaces its database, which status --check says', async () => {
    await using site = await Site.open()
    const other = join(site.root, 'other')
    writeFileSync(other, '')

    const { code, check } = await harmed(site, () =>
      renameSync(other, join(site.root, 'state', 'feedsyncd.db')),
    )

    expect([code, check.code]).toEqual([78, 2])
    expect(check.stdout).toContain('feedsyncd.db was deleted, replaced or moved away')
  })

  it('when its directory is moved away, which status --check says, and continues once the directory is back', async () => {
    await using site = await Site.open()
    const [state, away] = [join(site.root, 'state'), join(site.root, 'away')]

    const { code, check } = await harmed(site, () => renameSync(state, away))
    rmSync(state, { recursive: true, force: true })
    renameSync(away, state)

    expect([code, check.code]).toEqual([78, 2])
    expect(check.stdout).toContain('feedsyncd.db was deleted, replaced or moved away')
    await goesOn(site)
  })

  it('when its file system is unmounted, which status --check says', async (context) => {
    await using site = await Site.open()
    const disk = mountedDisk(join(site.root, 'state'), context)

    const { code, check } = await harmed(site, () => disk[Symbol.dispose]())

    expect([code, check.code]).toEqual([78, 2])
    expect(check.stdout).toContain('feedsyncd.db was deleted, replaced or moved away')
  })
})
