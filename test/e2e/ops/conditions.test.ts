// A cause that stops or slows the daemon is shown at once and in the same words everywhere.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { MINUTE } from '../../../src/lib/clock.ts'
import { eventually } from '../../helpers/eventually.ts'
import { statusOf } from '../../helpers/look.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, finished, lettersOf, Site } from '../../helpers/site.ts'
import { mountedDisk } from '../../helpers/small-disk.ts'

const quickSite = () => Site.open({}, { clock: quickClock() })

describe('a state disk that is full', () => {
  it('is critical for --check beside a daemon that does not run', async (test) => {
    await using site = await Site.open()
    using disk = mountedDisk(join(site.root, 'state'), test)
    await site.process('run', '--once')
    disk.fill({ pid: 0 })

    const { code, stdout } = await site.run('status', '--check')

    expect(code).toBe(2)
    expect(stdout).toMatch(/^CRITICAL - the disk of .*state is full: .*; the daemon is not running/)
  })

  it('is reported in the same words by status, --check, --json, /readyz and an alert, until it has room again', async (test) => {
    const paged = 'paged'
    const clock = quickClock()
    await using site = await Site.open({}, { clock })
    const file = join(site.root, paged)
    const script =
      'require("fs").appendFileSync(process.argv[1], process.env.FEEDSYNCD_ALERT_TEXT + "\\n")'
    site.configure({
      http: { listen: './http.sock' },
      alerts: [{ on: ['daemon'], exec: [process.execPath, '-e', script, file] }],
    })
    using disk = mountedDisk(join(site.root, 'state'), test)
    await site.daemon()
    site.drop('jobs.xml', feedOf(3))
    await site.until('jobs.xml', 'uploaded')

    disk.fill(process)
    await eventually(() => expect(existsSync(file)).toBe(true))

    const [condition] = statusOf(site).daemon.conditions
    expect(condition).toMatchObject({ code: 'state-full' })
    const words = condition?.message ?? ''
    expect((await site.run('status')).stdout).toMatch(new RegExp(`^critical: ${words}`))
    const check = await site.run('status', '--check')
    expect(check).toMatchObject({ code: 2 })
    expect(check.stdout).toContain(words)
    const ready = await fetchReady(join(site.root, 'http.sock'))
    expect(ready).toEqual({ status: 503, body: `${words}\n` })
    expect(readFileSync(file, 'utf8')).toContain(words)

    disk.free(process)
    clock.skip(MINUTE)
    await eventually(() => expect(statusOf(site).daemon.conditions).toEqual([]))
  })
})

it('a daemon that is killed leaves no condition behind', async () => {
  await using site = await Site.open()
  const daemon = await site.daemonProcess()
  rmSync(site.inbox, { recursive: true })
  await eventually(() => {
    expect(statusOf(site).daemon.conditions).toMatchObject([{ code: 'inbox-missing' }])
  })
  daemon.kill('SIGKILL')
  await finished(daemon)

  expect(statusOf(site).daemon).toMatchObject({ running: false, conditions: [] })
})

describe('a daemon with a wrong key', () => {
  it('shows the refused credentials first in status and --check, until the key works', async () => {
    await using site = await quickSite()
    const key = join(site.root, 'service.key')
    const right = readFileSync(key)
    writeFileSync(key, 'another-secret\n')
    await site.daemon()
    site.drop('jobs.xml', feedOf(3))
    await eventually(() => {
      expect(statusOf(site).daemon.conditions).toMatchObject([{ code: 'credentials' }])
    })

    const [status, check] = [await site.run('status'), await site.run('status', '--check')]
    writeFileSync(key, right)

    const [, words] = /^critical: (.*?) \(/.exec(status.stdout) ?? []
    expect(words).toContain('the service refused the credentials')
    expect(check).toMatchObject({ code: 2, stdout: expect.stringContaining(words ?? '') })
    await site.until('jobs.xml', 'uploaded')
    await eventually(() => expect(statusOf(site).daemon.conditions).toEqual([]))
  })
})

describe('a history that a newer feedsyncd wrote', () => {
  it('is critical for --check, because no daemon starts with it', async () => {
    await using site = await Site.open()
    await site.run('run', '--once')
    const newer = new Database(join(site.root, 'state', 'feedsyncd.db'))
    newer.pragma('user_version = 999')
    newer.close()

    const check = await site.run('status', '--check')

    expect(check).toMatchObject({ code: 2, stdout: expect.stringMatching(/^CRITICAL - .+ newer /) })
  })
})

describe('files that cannot be moved', () => {
  it('do not fill the log at each listing, and stay a condition when another file can be moved', async () => {
    await using site = await quickSite()
    site.configure({ inbox: { afterUpload: 'archive', archiveDirectory: './archive' } })
    mkdirSync(join(site.root, 'archive'))
    writeFileSync(join(site.root, 'archive', 'sub'), 'this is no folder')
    const daemon = await site.daemon()
    for (let n = 0; n < 20; n++) site.drop(`sub/${lettersOf(n)}.xml`, feedOf(3, `${n}`))
    await site.logged(daemon, '"event":"file.not-archived"', 20)

    for (const [n, name] of ['a.xml', 'b.xml', 'c.xml', 'd.xml'].entries()) {
      site.drop(name, feedOf(3, name))
      await site.logged(daemon, '"event":"file.archived"', n + 1)
      const { lastScanAt } = statusOf(site).daemon
      const isListed = () => expect(statusOf(site).daemon.lastScanAt).not.toBe(lastScanAt)
      await eventually(isListed)
    }

    const failing = daemon.output.split('\n').filter((line) => line.includes('file.not-archived'))
    const paths = failing.map((line) => /"path":"([^"]+)"/.exec(line)?.[1])
    const repeated = paths.filter((path, at) => paths.indexOf(path) < at)
    expect(new Set(paths).size).toBe(20)
    expect(new Set(repeated).size).toBeLessThanOrEqual(5)
    expect(daemon.output).not.toContain('daemon.recovered')
    expect(statusOf(site).daemon.conditions).toMatchObject([{ code: 'dispositions-failing' }])
  })

  it('are a warning in status and --check until they can be moved', async () => {
    await using site = await quickSite()
    const inbox = { afterUpload: 'archive', archiveDirectory: './archive' }
    site.configure({ inbox })
    writeFileSync(join(site.root, 'archive'), 'this is no folder')
    await site.daemon()
    site.drop('jobs.xml', feedOf(3))
    await eventually(() => {
      expect(statusOf(site).daemon.conditions).toMatchObject([{ code: 'dispositions-failing' }])
    })

    const check = await site.run('status', '--check')
    const status = await site.run('status')
    rmSync(join(site.root, 'archive'))

    const [, words] = /^warning: (.*?) \(/.exec(status.stdout) ?? []
    expect(words).toContain('archive is not possible')
    expect(check).toMatchObject({ code: 1, stdout: expect.stringContaining(words ?? '') })
    await eventually(() => expect(statusOf(site).daemon.conditions).toEqual([]))
  })
})

describe('a configuration with mistakes', () => {
  it('is critical beside a daemon that does not run, and status still shows the feeds of its state directory', async () => {
    await using site = await Site.open()
    const daemon = await site.daemonProcess()
    site.drop('jobs.xml', feedOf(3))
    await site.until('jobs.xml', 'uploaded')
    daemon.kill('SIGTERM')
    await finished(daemon)
    writeFileSync(site.configFile, 'version: 1\nservice: [\n')

    const check = await site.run('status', '--check')
    const status = await site.run('status')

    expect(check.code).toBe(2)
    expect(check.stdout).toMatch(
      /^CRITICAL - the configuration has mistakes: .*feedsyncd\.yaml:\d+:\d+ .*; the daemon is not running/,
    )
    expect(status.code).toBe(78)
    expect(status.stdout).toMatch(
      /^critical: the configuration has mistakes: .*feedsyncd\.yaml:\d+:/,
    )
    expect(status.stdout).toContain(`this status comes from ${join(site.root, 'state')}`)
    expect(status.stdout).toContain('jobs.xml')
  })

  it('is critical and shows its first mistake, even if nothing else is known', async () => {
    await using site = await Site.open()
    site.configure({ upload: { concurrency: 0 } })

    const { code, stdout } = await site.run('status', '--check')

    expect(code).toBe(2)
    expect(stdout).toMatch(/^CRITICAL - the configuration has 1 mistakes?: .*upload\.concurrency/)
  })
})

async function fetchReady(socketPath: string): Promise<{ status: number; body: string }> {
  const { request } = await import('node:http')
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: '/readyz' }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text) => {
        body += text
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
    })
    asked.once('error', reject)
    asked.end()
  })
}
