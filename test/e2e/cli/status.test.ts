import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { openHistory } from '../../../src/history/sqlite-history.ts'
import { MINUTE } from '../../../src/lib/clock.ts'
import { readDaemonFile } from '../../../src/ops/daemon-file.ts'
import { eventuallyTrue } from '../../helpers/eventually.ts'
import { feedOf, finished, preload, Site } from '../../helpers/site.ts'

it('status in a pipe lists every feed', async () => {
  await using site = await Site.open()
  await site.run('run', '--once')
  using history = openHistory({ file: join(site.root, 'state', 'feedsyncd.db') })
  for (let n = 100; n < 160; n++) {
    const feed = { path: `f${n}.xml`, feed: `f${n}.xml`, account: null, reason: null }
    history.add({ ...feed, state: 'settling', at: Date.now() })
  }

  const { stdout } = await site.process('status')

  expect(stdout.match(/^ *\d+ +f1\d\d\.xml/gm)).toHaveLength(60)
})

it('status --check of a feed is 0 without problems and without matches, and 3 for a mistyped name, in text and JSON', async () => {
  await using site = await Site.open()
  await site.daemon()
  site.drop('jobs.xml', feedOf(1))
  await site.until('jobs.xml', 'uploaded')

  const known = await site.run('status', 'jobs.xml', '--check')
  const failed = await site.run('status', 'jobs.xml', '--check', '--state', 'failed')
  const mistyped = await site.run('status', 'job.xml', '--check')
  const json = await site.run('status', 'job.xml', '--check', '--json')

  expect(known).toMatchObject({ code: 0, stdout: expect.stringMatching(/^OK - 1 feed/) })
  expect(failed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^OK - 0 feeds/) })
  expect(mistyped).toMatchObject({
    code: 3,
    stdout: 'UNKNOWN - no feed is named "job.xml"; the nearest is "jobs.xml"\n',
  })
  expect([json.code, JSON.parse(json.stdout)]).toEqual([
    3,
    { schemaVersion: 1, code: 3, line: mistyped.stdout.trimEnd() },
  ])
})

/** age sets times in the daemon's file, as if the daemon had not written it since then. */
function age(site: Site, times: { heartbeatAt?: number; lastScanAt?: number }): void {
  const file = join(site.root, 'state', 'daemon.json')
  const said = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...said, ...times }))
}

it('status --check becomes critical when a hanging daemon has not listed the folder for a minute', async () => {
  await using site = await Site.open()
  const daemon = await site.daemonProcess()
  site.drop('jobs.xml', feedOf(1))
  await site.until('jobs.xml', 'uploaded')
  daemon.kill('SIGSTOP')

  age(site, { lastScanAt: Date.now() - 0.9 * MINUTE })
  const recent = await site.run('status', '--check')
  age(site, { lastScanAt: Date.now() - 1.1 * MINUTE })
  const stuck = await site.run('status', '--check')

  expect(recent).toMatchObject({ code: 0 })
  expect(stuck).toMatchObject({
    code: 2,
    stdout: expect.stringMatching(/^CRITICAL - the folder was not listed since [-\d :]+ UTC\n$/),
  })
})

it('status --live is 0 for a daemon without its history, and 2 if it hangs or does not run, or without a configuration', async () => {
  await using site = await Site.open()
  const before = await site.run('status', '--live')
  const daemon = await site.daemonProcess()
  rmSync(join(site.root, 'state', 'feedsyncd.db'))
  const runs = await site.run('status', '--live', '--json')
  daemon.kill('SIGSTOP')
  age(site, { heartbeatAt: Date.now() - 2.1 * MINUTE })
  const stuck = await site.run('status', '--live')
  daemon.kill('SIGKILL')
  await finished(daemon)
  const killed = await site.run('status', '--live')
  writeFileSync(site.configFile, 'service: {')
  const unknown = await site.run('status', '--live')

  expect([runs.code, JSON.parse(runs.stdout)]).toMatchObject([
    0,
    {
      schemaVersion: 1,
      code: 0,
      line: expect.stringMatching(/^OK - the daemon is alive \(pid \d+\)/),
    },
  ])
  expect(stuck).toMatchObject({ code: 2, stdout: expect.stringContaining('is hung, heartbeat') })
  for (const { code, stdout } of [before, killed])
    expect([code, stdout]).toEqual([2, 'CRITICAL - the daemon is not running\n'])
  expect(unknown).toMatchObject({ code: 2, stdout: expect.stringMatching(/^CRITICAL - /) })
})

it('a daemon writes its heartbeat while its database is locked', async () => {
  await using site = await Site.open()
  // The daemon's clocks run ten times as fast, so it writes a heartbeat every 3 s.
  site.env = preload('fast-time.ts')
  const daemon = await site.daemonProcess()
  const lock = new Database(join(site.root, 'state', 'feedsyncd.db'))
  lock.exec('BEGIN EXCLUSIVE')
  site.drop('jobs.xml', feedOf(1))
  await site.logged(daemon, 'is locked by another process')
  const heartbeatAt = () =>
    readDaemonFile(join(site.root, 'state'), site.runtime)?.heartbeatAt ?? Number.NaN
  const before = heartbeatAt()

  await eventuallyTrue(() => heartbeatAt() > before)
  lock.close()
})
