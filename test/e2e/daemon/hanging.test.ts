// SIGTERM ends the daemon within the time of its drain, whatever it waits for: nothing is lost, and the log says
// what did not end. The daemon's clocks run ten times as fast, so that 30 s of drain take 3 s; its last 5 s stay 5 s.

import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { entry, fileOf } from '../../helpers/campaigns/reconciling.ts'
import { eventuallyTrue } from '../../helpers/eventually.ts'
import { feedOf, finished, preload, Site } from '../../helpers/site.ts'

/** 3 s of drain and 5 s of grace, on a machine with much else to do. */
const LIMIT_MS = 200_000

async function hangingSite(config: Record<string, unknown> = {}) {
  const site = await Site.open(config)
  const folder = join(site.root, 'hang')
  mkdirSync(folder)
  execFileSync('mkfifo', [join(folder, 'fifo')])
  site.env = {
    ...preload('hanging.ts', 'fast-time.ts'),
    FEEDSYNCD_HANG: folder,
    FEEDSYNCD_REAL_TIMERS: '5000',
  }
  const let_ = (what: string) => writeFileSync(join(folder, what), '')
  const until = (what: string) => eventuallyTrue(() => rmIfThere(join(folder, `${what}-hangs`)))
  return {
    site,
    hang: let_,
    untilHanging: until,
    release: () => rmSync(folder, { recursive: true }),
  }
}

function rmIfThere(path: string): boolean {
  try {
    rmSync(path)
    return true
  } catch {
    return false
  }
}

/** How the process ended, once it was told to. */
async function stopped(daemon: ReturnType<Site['spawn']>) {
  const began = performance.now()
  const ended = finished(daemon)
  daemon.kill('SIGTERM')
  const { code, stdout, stderr } = await ended
  return { end: code ?? daemon.signalCode, ms: performance.now() - began, said: stdout + stderr }
}

describe.concurrent('SIGTERM ends a daemon that waits for', () => {
  it('a look at a folder whose disk does not answer', async () => {
    const { site, hang, untilHanging, release } = await hangingSite()
    await using _site = site
    const daemon = await site.daemonProcess()
    hang('look')
    await untilHanging('look')

    const { end, ms, said } = await stopped(daemon)
    release()
    site.drop('jobs.xml', feedOf(3))
    await site.daemonProcess()

    expect(end).toBe('SIGTERM')
    expect(said).toContain('it is ended by force')
    expect(ms).toBeLessThan(LIMIT_MS)
    await site.until('jobs.xml', 'uploaded')
  })

  it('a directory of the folder whose file server does not answer', async () => {
    const { site, hang, untilHanging, release } = await hangingSite()
    await using _site = site
    mkdirSync(join(site.inbox, 'mount'))
    const daemon = await site.daemonProcess()
    hang('mount')
    await untilHanging('mount')

    const { end, ms, said } = await stopped(daemon)
    release()

    expect(end).toBe('SIGTERM')
    expect(said).toContain('it is ended by force')
    expect(ms).toBeLessThan(LIMIT_MS)
  })

  it('a thread that hangs in a feed', async () => {
    const { site, hang, untilHanging, release } = await hangingSite()
    await using _site = site
    const daemon = await site.daemonProcess()
    hang('read')
    site.drop('jobs.xml', feedOf(3))
    await untilHanging('read')

    const { end, ms, said } = await stopped(daemon)
    release()
    await site.daemonProcess()

    expect(end).toBe('SIGTERM')
    expect(said).toContain('still waited for its threads')
    expect(ms).toBeLessThan(LIMIT_MS)
    await site.until('jobs.xml', 'uploaded')
  })

  it('its own start', async () => {
    const { site, hang, untilHanging } = await hangingSite()
    await using _site = site
    hang('open')
    const daemon = site.spawn('run')
    await untilHanging('open')

    const { end, ms } = await stopped(daemon)

    expect(end).toBe('SIGTERM')
    expect(ms).toBeLessThan(LIMIT_MS)
  })

  it('the address of the service', async () => {
    const { site, hang, untilHanging } = await hangingSite({
      service: { baseUrl: 'https://service.test' },
    })
    await using _site = site
    const daemon = await site.daemonProcess()
    hang('dns')
    site.drop('jobs.xml', feedOf(3))
    await untilHanging('dns')

    const { ms } = await stopped(daemon)

    expect(ms).toBeLessThan(LIMIT_MS)
    expect(site.uploads()[0]?.state).toBe('queued')
  })

  it('a database that another process has locked', async () => {
    const { site } = await hangingSite()
    await using _site = site
    const daemon = await site.daemonProcess()
    const lock = new Database(join(site.root, 'state', 'feedsyncd.db'))
    lock.exec('BEGIN EXCLUSIVE')
    site.drop('jobs.xml', feedOf(3))
    await site.logged(daemon, 'is locked by another process')

    const { ms } = await stopped(daemon)
    lock.close()

    expect(ms).toBeLessThan(LIMIT_MS)
  })

  it('an alert’s program that does not end', async () => {
    const { site } = await hangingSite({
      alerts: [{ on: ['rejected'], exec: ['/bin/sleep', '300'] }],
    })
    await using _site = site
    const daemon = await site.daemonProcess()
    site.drop('jobs.xml', '<a><b></a>')
    await site.until('jobs.xml', 'rejected')

    const { ms } = await stopped(daemon)

    expect(ms).toBeLessThan(LIMIT_MS)
  })

  it('an answer about campaigns', async () => {
    const { site } = await hangingSite()
    await using _site = site
    const gate = site.sandbox.faults.add({
      ...{ at: 'service', kind: 'gate', point: 'headers', route: 'campaign-search' },
    })
    writeFileSync(join(site.root, 'campaigns.yaml'), fileOf(entry('A')))
    const daemon = await site.daemonProcess()
    await gate.held()

    const { ms } = await stopped(daemon)
    gate.remove()

    expect(ms).toBeLessThan(LIMIT_MS)
  })

  it('an upload that does not move', async () => {
    const { site } = await hangingSite()
    await using _site = site
    site.env = { ...site.env, ...preload('fast-time.ts', 'patient-grace.ts') }
    const gate = site.sandbox.faults.add({ at: 'storage', kind: 'gate', point: 'answer' })
    const daemon = await site.daemonProcess()
    site.drop('jobs.xml', feedOf(3))
    await gate.held()

    const { end, ms } = await stopped(daemon)
    gate.remove()

    expect(end).toBe(143)
    expect(ms).toBeLessThan(LIMIT_MS)
    expect(site.uploads()[0]?.state).toBe('queued')
  })
})

describe('a folder whose disk does not answer', () => {
  it.each([
    ['status', ['status', '--json']],
    ['the check of a monitoring system', ['status', '--check']],
    ['a person who looks at a version', ['show', '1', '--json']],
  ])('does not keep %s waiting', async (_, command) => {
    const { site, hang, untilHanging } = await hangingSite()
    await using _site = site
    const daemon = await site.daemonProcess()
    site.drop('jobs.xml', feedOf(3))
    await site.until('jobs.xml', 'uploaded')
    hang('link')

    const asked = site.process(...command)
    const ended = await Promise.race([asked, untilHanging('link')])

    expect(ended).toMatchObject({ code: 0 })
    daemon.kill('SIGKILL')
  })

  it('does not stop a daemon that reads its configuration again', async () => {
    const { site, hang } = await hangingSite()
    await using _site = site
    const daemon = await site.daemonProcess()
    hang('link')

    daemon.kill('SIGHUP')
    await site.logged(daemon, 'config.reloaded')
    site.drop('jobs.xml', feedOf(3))

    await site.until('jobs.xml', 'uploaded')
  })
})
