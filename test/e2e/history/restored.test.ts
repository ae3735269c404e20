// The state directory is restored from an earlier moment, whole or in part, on this host or another. No old version
// replaces a newer one without a person, and no file in the folder is lost.

import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { putEmptyHistory } from '../../helpers/history/empty.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, lettersOf, Site } from '../../helpers/site.ts'

const sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('hex')
const stored = (site: Site) => site.sandbox.objects().map((object) => object.sha256)
const state = (site: Site) => join(site.root, 'state')

function holdUploads(site: Site): { remove(): void } {
  return site.sandbox.faults.add({ at: 'service', kind: 'answer', status: 503, retryAfter: '600' })
}

/** putBack restores the state directory from a copy, so all its files have other inodes. */
function putBack(site: Site, copy: string): void {
  rmSync(state(site), { recursive: true })
  cpSync(copy, state(site), { recursive: true, preserveTimestamps: true })
}

it('reads a file from the folder again when its copy was lost with the host, and fails a version whose file is lost, too', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  const before = await site.daemon()
  const down = holdUploads(site)
  site.drop('held.xml', '<source></source>')
  site.drop('jobs.xml', feedOf(10))
  site.drop('left.xml', feedOf(20))
  await site.until('held.xml', 'held')
  await site.until('jobs.xml', 'queued')
  await site.until('left.xml', 'queued')
  await before.stop()
  rmSync(join(state(site), 'spool'), { recursive: true })
  rmSync(join(site.inbox, 'left.xml'))
  down.remove()

  await site.daemon()
  await site.until('jobs.xml', 'uploaded')
  const left = await site.until('left.xml', 'failed')
  await site.until('held.xml', 'held')

  expect(stored(site)).toEqual([sha256(feedOf(10))])
  expect(left).toMatchObject({
    reason: 'its copy is missing: it was on the host that was lost',
    hint: 'put the file into the folder again',
  })
  expect(site.events('jobs.xml').map(({ to }) => to)).not.toContain('failed')
})

it('holds a waiting version of a restored state whose file has left, until a person releases it', async () => {
  await using site = await Site.open({ inbox: { afterUpload: 'archive' } }, { clock: quickClock() })
  const first = await site.daemon()
  const down = holdUploads(site)
  site.drop('jobs.xml', feedOf(10))
  site.drop('other.xml', feedOf(30))
  const waiting = await site.until('jobs.xml', 'queued')
  await site.until('other.xml', 'queued')
  await first.stop()
  const copy = join(site.root, 'backup')
  cpSync(state(site), copy, { recursive: true })
  down.remove()
  const second = await site.daemon()
  await site.run('retry', String(waiting.id))
  site.drop('jobs.xml', feedOf(12))
  await site.until('jobs.xml', 'uploaded', sha256(feedOf(12)))
  await eventually(() => expect(existsSync(join(site.inbox, 'jobs.xml'))).toBe(false))
  await second.stop()

  putBack(site, copy)
  await site.daemon()
  const held = await site.until('jobs.xml', 'held')
  const kept = stored(site)
  const released = await site.run('release', '--lost-history', '--yes')
  await site.until('jobs.xml', 'uploaded', sha256(feedOf(10)))

  expect(held).toMatchObject({
    id: waiting.id,
    guard: 'history-lost',
    reason: 'the history was restored: a newer version might be on the service',
  })
  expect(kept.at(-1)).toBe(sha256(feedOf(12)))
  expect(released.code).toBe(0)
})

it('sees no restore when a disk was moved or a daemon was killed', async () => {
  await using site = await Site.open({ inbox: { afterUpload: 'archive' } }, { clock: quickClock() })
  const down = holdUploads(site)
  const daemon = await site.daemonProcess()
  site.drop('jobs.xml', feedOf(10))
  await site.until('jobs.xml', 'queued')
  daemon.kill('SIGKILL')
  await new Promise((resolve) => daemon.once('exit', resolve))
  rmSync(join(site.inbox, 'jobs.xml'))
  renameSync(state(site), join(site.root, 'elsewhere'))
  renameSync(join(site.root, 'elsewhere'), state(site))
  down.remove()

  await site.daemon()
  await site.run('retry', '1')
  await site.until('jobs.xml', 'uploaded')

  expect(site.events('jobs.xml').map(({ to }) => to)).not.toContain('held')
})

describe('with state.expectHistory, a daemon does not start', () => {
  const foreign = (file: string) => {
    const db = new Database(file)
    db.exec('CREATE TABLE versions (id INTEGER)')
    db.close()
  }
  const emptySchema = (file: string) => putEmptyHistory(file)
  it.each([
    ['without a file', () => {}],
    ['with an empty file', (file: string) => writeFileSync(file, '')],
    ['with a file that is not a database', (file: string) => writeFileSync(file, 'x'.repeat(9000))],
    ['with the database of another program', foreign],
    ['with a history that no daemon has used', emptySchema],
  ])('%s, and sends nothing', async (_, make) => {
    await using site = await Site.open({ state: { expectHistory: true } })
    mkdirSync(state(site))
    make(join(state(site), 'feedsyncd.db'))
    site.drop('jobs.xml', feedOf(1))

    const run = await site.process('run', '--once')

    expect(run.code).toBe(78)
    expect(stored(site)).toEqual([])
  })
})

it('starts with state.expectHistory on a standby that was restored before its first feed', async () => {
  await using site = await Site.open()
  await site.run('run', '--once')
  const copy = join(site.root, 'backup.db')
  await site.run('backup', copy)
  rmSync(state(site), { recursive: true })
  mkdirSync(state(site))
  cpSync(copy, join(state(site), 'feedsyncd.db'))
  site.configure({ state: { expectHistory: true } })
  site.drop('jobs.xml', feedOf(1))

  const run = await site.process('run', '--once')

  expect(run.code).toBe(0)
  expect(stored(site)).toHaveLength(1)
})

it('holds no waiting version of a copied state whose file is unchanged, to the nanosecond', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  const first = await site.daemon()
  holdUploads(site)
  const names = Array.from({ length: 12 }, (_, n) => `${lettersOf(n)}.xml`)
  for (const [n, name] of names.entries()) {
    writeFileSync(join(site.inbox, `${name}.part`), feedOf(3 + n))
    // Times with fractions of a millisecond, which a number loses.
    utimesSync(
      join(site.inbox, `${name}.part`),
      1_790_000_000.0007 + n / 7,
      1_790_000_000.0007 + n / 7,
    )
    renameSync(join(site.inbox, `${name}.part`), join(site.inbox, name))
  }
  for (const name of names) await site.untilWaiting(name)
  await first.stop()
  const copy = join(site.root, 'backup')
  cpSync(state(site), copy, { recursive: true })
  putBack(site, copy)

  const daemon = await site.daemon()
  await daemon.stop()

  expect(site.uploads().map((version) => version.state)).toEqual(names.map(() => 'queued'))
})
