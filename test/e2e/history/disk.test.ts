// Errors of our own disk and database. The daemon reports an error once, in two lines. It stays alive, does not spin,
// loses nothing, sends nothing twice, and continues automatically when the error ends. These tests mostly wait (5 s
// until the next try, by clocks that are ten times as fast), so they run side by side.

import type { ChildProcess } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { eventuallyTrue } from '../../helpers/eventually.ts'
import { feedOf, lettersOf, preload, Site } from '../../helpers/site.ts'
import { SmallDisk } from '../../helpers/small-disk.ts'

const TWO_LINES = /^error: .+\ntry: .+\n$/

/** listen collects the output of a daemon. */
function listen(daemon: ChildProcess) {
  const heard = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    daemon[stream]?.on('data', (chunk) => {
      heard[stream] += chunk
    })
  }
  return {
    heard,
    until: (stream: 'stdout' | 'stderr', text: string) =>
      eventuallyTrue(() => heard[stream].includes(text)),
    lines: () => heard.stdout.split('\n').length + heard.stderr.split('\n').length,
  }
}

/** lockHistory locks the database like another process. */
function lockHistory(site: Site): Disposable {
  const db = new Database(join(site.root, 'state', 'feedsyncd.db'))
  db.exec('BEGIN EXCLUSIVE')
  return { [Symbol.dispose]: () => void db.close() }
}

function expectAlive(daemon: ChildProcess): void {
  expect([daemon.exitCode, daemon.signalCode]).toEqual([null, null])
}

describe.concurrent('a database that another process has locked', () => {
  it('is reported once, and files dropped meanwhile are delivered when the lock ends', async () => {
    await using site = await Site.open({}, { env: preload('fast-time.ts') })
    const daemon = await site.daemonProcess()
    const { heard, lines, until } = listen(daemon)
    site.drop('before.xml', feedOf(3))
    await site.until('before.xml', 'uploaded')
    const said = lines()

    const lock = lockHistory(site)
    site.drop('jobs.xml', feedOf(4))
    await until('stderr', 'is locked by another process')
    expectAlive(daemon)
    lock[Symbol.dispose]()
    await site.until('jobs.xml', 'uploaded')
    await until('stdout', 'recovered')

    expect(heard.stderr).toMatch(TWO_LINES)
    expect(lines() - said).toBeLessThan(12)
    expect(site.sandbox.objects()).toHaveLength(2)
  })

  it('delays the record of a stored version, which is not sent again', async () => {
    await using site = await Site.open({}, { env: preload('fast-time.ts') })
    const daemon = await site.daemonProcess()
    const { lines, until } = listen(daemon)
    const gate = site.sandbox.faults.add({ at: 'storage', kind: 'gate', point: 'answer' })
    site.drop('jobs.xml', feedOf(6))
    await gate.held()

    const lock = lockHistory(site)
    gate.remove()
    await until('stdout', 'history cannot be written; feedsyncd tries again')
    lock[Symbol.dispose]()
    const { id } = await site.until('jobs.xml', 'uploaded')

    // An attempt fails when the sandbox is too slow with a form, so ignore failed ones.
    const ends = site.show(id).attempts.map(({ outcome }) => outcome)
    expect(ends.filter((end) => end !== 'failed')).toEqual(['stored'])
    expect(site.sandbox.objects()).toHaveLength(1)
    expect(lines()).toBeLessThan(20)
  })

  it('between two attempts delays the version, which is then delivered', async () => {
    await using site = await Site.open({}, { env: preload('fast-time.ts') })
    const daemon = await site.daemonProcess()
    const { until } = listen(daemon)
    site.sandbox.faults.add({ at: 'service', kind: 'answer', status: 503, times: 1 })
    const gate = site.sandbox.faults.add({ at: 'service', kind: 'gate', point: 'answer' })
    site.drop('jobs.xml', feedOf(6))
    await gate.held()

    const lock = lockHistory(site)
    gate.remove()
    await until('stdout', 'history cannot be written; feedsyncd tries again')
    lock[Symbol.dispose]()
    const { id } = await site.until('jobs.xml', 'uploaded')

    const ends = site.show(id).attempts.map(({ outcome }) => outcome)
    expect([ends[0], ...ends.filter((end) => end !== 'failed')]).toEqual(['failed', 'stored'])
    expect(site.sandbox.objects()).toHaveLength(1)
  })
})

describe.concurrent('a disk that is full', () => {
  it('for the spool lets one feed wait with a reason, reported once, until there is room, while others pass', async () => {
    await using site = await Site.open({}, { env: preload('fast-time.ts') })
    using disk = new SmallDisk(join(site.root, 'state'))
    const daemon = await site.daemonProcess()
    const { heard, lines, until } = listen(daemon)
    site.drop('small.xml', feedOf(3))
    await site.until('small.xml', 'uploaded')

    disk.fill(daemon, 1_000_000)
    site.drop('large.xml', feedOf(15_000))
    await until('stderr', 'into the spool')
    const waiting = await site.until('large.xml', 'settling')
    expectAlive(daemon)
    site.drop('other.xml', feedOf(4))
    await site.until('other.xml', 'uploaded')
    disk.free(daemon)
    const uploaded = await site.until('large.xml', 'uploaded')

    expect(waiting.reason).toMatch(/^not enough disk space for the copy/)
    expect(heard.stderr).toMatch(TWO_LINES)
    expect(uploaded.hint).toBeNull()
    expect(uploaded.id).toBe(waiting.id)
    expect(lines()).toBeLessThan(40)
    expect(site.sandbox.objects()).toHaveLength(3)
  })

  it('for an unpacked gzip feed lets the feed wait with a reason until there is room', async () => {
    await using site = await Site.open({}, { env: preload('fast-time.ts') })
    using disk = new SmallDisk(join(site.root, 'state'))
    const daemon = await site.daemonProcess()
    const { until } = listen(daemon)
    const feed = feedOf(15_000)
    const packed = gzipSync(feed)
    disk.fill(daemon, 1_000_000)

    site.drop('packed.xml.gz', packed)
    await until('stderr', 'try: ')
    const waiting = await site.until('packed.xml', 'settling')
    expectAlive(daemon)
    disk.free(daemon)
    const { bytes, id } = await site.until('packed.xml', 'uploaded')

    expect(packed.length).toBeLessThan(1_000_000)
    expect(waiting.reason).toMatch(/^not enough disk space for the copy/)
    expect([id, bytes]).toEqual([waiting.id, Buffer.byteLength(feed)])
  })

  it('for many small feeds lets them wait, and each is sent once when there is room', async () => {
    await using site = await Site.open({}, { env: preload('fast-time.ts') })
    using disk = new SmallDisk(join(site.root, 'state'))
    const daemon = await site.daemonProcess()
    const { until } = listen(daemon)
    const names = Array.from({ length: 12 }, (_, n) => `${lettersOf(n)}.xml`)
    // Not even a single feed of 40 kB fits.
    disk.fill(daemon, 30_000)

    for (const name of names) site.drop(name, feedOf(300, `Job ${name}`))
    await until('stderr', 'try: ')
    expectAlive(daemon)
    disk.free(daemon)
    for (const name of names) await site.until(name, 'uploaded')

    expect(site.sandbox.objects()).toHaveLength(names.length)
    expect(new Set(site.sandbox.objects().map(({ sha256 }) => sha256)).size).toBe(names.length)
  })

  it('for the database is reported with what to do, and everything continues when there is room', async () => {
    await using site = await Site.open({}, { env: preload('fast-time.ts') })
    using disk = new SmallDisk(join(site.root, 'state'))
    const daemon = await site.daemonProcess()
    const { heard, lines, until } = listen(daemon)
    site.drop('before.xml', feedOf(3))
    await site.until('before.xml', 'uploaded')

    disk.fill(daemon)
    for (let n = 0; n < 5; n++) site.drop(`${lettersOf(n)}.xml`, feedOf(3, `Post ${n}`))
    await until('stderr', 'try: ')
    expectAlive(daemon)
    disk.free(daemon)
    for (let n = 0; n < 5; n++) await site.until(`${lettersOf(n)}.xml`, 'uploaded')

    expect(heard.stderr).toMatch(/^error: .*(full|disk|spool).*\ntry: /)
    expect(lines()).toBeLessThan(60)
    expect(site.sandbox.objects()).toHaveLength(6)
  })
})

describe.concurrent('a database that cannot be used at the start', () => {
  it('because its directory is read-only ends with two lines and exit 75, until the disk is writable again', async (context) => {
    await using site = await Site.open()
    using disk = new SmallDisk(join(site.root, 'state'))
    context.skip(!disk.canBeReadOnly, 'root may write everywhere here')
    site.drop('before.xml', feedOf(3))
    await site.run('run', '--once')
    site.drop('jobs.xml', feedOf(4))

    disk.make('read-only')
    const { code, stderr } = await site.run('run')
    disk.make('writable')
    const after = await site.run('run', '--once')

    expect([code, after.code]).toEqual([75, 0])
    expect(stderr).toMatch(TWO_LINES)
    expect(stderr).toContain('its disk is read-only')
    expect(stderr).toContain('mount the disk writable')
    expect(site.sandbox.objects()).toHaveLength(2)
  })

  it('because it is damaged ends with two lines and exit 78', async () => {
    await using site = await Site.open()
    mkdirSync(join(site.root, 'state'))
    writeFileSync(join(site.root, 'state', 'feedsyncd.db'), 'this is no database '.repeat(500))

    const { code, stderr } = await site.run('run')

    expect(code).toBe(78)
    expect(stderr).toMatch(TWO_LINES)
    expect(stderr).toContain('is damaged')
  })

  it('because a newer feedsyncd wrote it ends with two lines and exit 78, and keeps its schema', async () => {
    await using site = await Site.open()
    await site.run('run', '--once')
    const file = join(site.root, 'state', 'feedsyncd.db')
    const newer = new Database(file)
    newer.pragma('user_version = 9999')
    newer.close()

    const { code, stderr } = await site.run('run')

    const after = new Database(file, { readonly: true })
    const version = after.pragma('user_version', { simple: true })
    after.close()
    expect(code).toBe(78)
    expect(stderr).toMatch(TWO_LINES)
    expect(stderr).toContain('newer feedsyncd')
    expect(version).toBe(9999)
  })
})

describe.concurrent('a disk that fails one read', () => {
  it('is logged, and the daemon goes on', async () => {
    await using site = await Site.open()
    const file = join(site.root, 'fail-read')
    site.env = { ...preload('failing-read.ts', 'fast-time.ts'), FEEDSYNCD_FAIL_READ: file }
    const daemon = await site.daemonProcess()

    writeFileSync(file, 'SELECT min(next_attempt_at)')
    await site.logged(daemon, '"state-failing"')
    site.drop('jobs.xml', feedOf(3))
    await site.until('jobs.xml', 'uploaded')

    expectAlive(daemon)
  })
})
