// SIGTERM ends the daemon, even while it waits for something that hangs. Nothing is lost, and the log names what did
// not end. The daemon's clocks run ten times as fast, so 30 s of drain take 3 s.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { entry, fileOf } from '../../helpers/campaigns/file.ts'
import { hangingSite } from '../../helpers/hanging-site.ts'
import { feedOf, finished, preload, type Site } from '../../helpers/site.ts'

/** With a longer grace time, a slow but healthy daemon is not ended by force on a busy machine. */
const PATIENT = preload('hanging.ts', 'fast-time.ts', 'long-grace.ts')

/** The daemon ends in time, after an abort, or by force, which depends on the speed of the machine; it never crashes. */
const ENDS: readonly unknown[] = [0, 143, 'SIGTERM']

/** stopped sends SIGTERM and returns how the process ended. */
async function stopped(daemon: ReturnType<Site['spawn']>) {
  const ended = finished(daemon)
  daemon.kill('SIGTERM')
  const { code, stdout, stderr } = await ended
  return { end: code ?? daemon.signalCode, said: stdout + stderr }
}

describe.concurrent('SIGTERM ends a daemon that waits for', () => {
  it('the listing of a folder whose disk does not answer: by force, as its log says, and the next start sends feeds', async () => {
    const { site, hang, untilHanging, release } = await hangingSite()
    await using _site = site
    const daemon = await site.daemonProcess()
    hang('look')
    await untilHanging('look')

    const { end, said } = await stopped(daemon)
    release()
    site.drop('jobs.xml', feedOf(3))
    await site.daemonProcess()

    expect(end).toBe('SIGTERM')
    expect(said).toContain('it is ended by force')
    await site.until('jobs.xml', 'uploaded')
  })

  it('a directory of the folder whose file server does not answer: by force, as its log says', async () => {
    const { site, hang, untilHanging, release } = await hangingSite()
    await using _site = site
    mkdirSync(join(site.inbox, 'mount'))
    const daemon = await site.daemonProcess()
    hang('mount')
    await untilHanging('mount')

    const { end, said } = await stopped(daemon)
    release()

    expect(end).toBe('SIGTERM')
    expect(said).toContain('it is ended by force')
  })

  it('a thread that hangs while it reads a feed: its log names the threads, and the next start sends the feed', async () => {
    const { site, hang, untilHanging, release } = await hangingSite()
    await using _site = site
    const daemon = await site.daemonProcess()
    hang('read')
    site.drop('hung.xml', feedOf(3))
    await untilHanging('read')

    const { end, said } = await stopped(daemon)
    release()
    await site.daemonProcess()

    expect(end).toBe('SIGTERM')
    expect(said).toContain('still waited for its threads')
    await site.until('hung.xml', 'uploaded')
  })

  it('its own start: by the signal', async () => {
    const { site, hang, untilHanging } = await hangingSite()
    await using _site = site
    hang('open')
    const daemon = site.spawn('run')
    await untilHanging('open')

    const { end } = await stopped(daemon)

    expect(end).toBe('SIGTERM')
  })

  it('the address of the service, and its feed stays queued', async () => {
    const { site, hang, untilHanging } = await hangingSite({
      service: { baseUrl: 'https://service.test' },
    })
    await using _site = site
    site.env = { ...site.env, ...PATIENT }
    const daemon = await site.daemonProcess()
    hang('dns')
    site.drop('jobs.xml', feedOf(3))
    await site.passed('jobs.xml', 'queued')
    await untilHanging('dns')

    const { end } = await stopped(daemon)

    expect(ENDS).toContain(end)
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

    const { end } = await stopped(daemon)
    lock.close()

    expect(ENDS).toContain(end)
  })

  it('the program of an alert that does not end', async () => {
    const { site } = await hangingSite({
      alerts: [{ on: ['rejected'], exec: ['/bin/sleep', '300'] }],
    })
    await using _site = site
    const daemon = await site.daemonProcess()
    site.drop('jobs.xml', '<a><b></a>')
    await site.until('jobs.xml', 'rejected')

    const { end } = await stopped(daemon)

    expect(ENDS).toContain(end)
  })

  it('an answer of the service about campaigns', async () => {
    const { site } = await hangingSite()
    await using _site = site
    const gate = site.sandbox.faults.add({
      ...{ at: 'service', kind: 'gate', point: 'headers', route: 'campaign-search' },
    })
    writeFileSync(join(site.root, 'campaigns.yaml'), fileOf(entry('A')))
    const daemon = await site.daemonProcess()
    await gate.held()

    const { end } = await stopped(daemon)
    gate.remove()

    expect(ENDS).toContain(end)
  })

  it('an upload that makes no progress, and its feed stays queued', async () => {
    const { site } = await hangingSite()
    await using _site = site
    site.env = { ...site.env, ...PATIENT }
    const gate = site.sandbox.faults.add({ at: 'storage', kind: 'gate', point: 'answer' })
    const daemon = await site.daemonProcess()
    site.drop('jobs.xml', feedOf(3))
    await gate.held()

    const { end } = await stopped(daemon)
    gate.remove()

    expect(end).toBe(143)
    expect(site.uploads()[0]?.state).toBe('queued')
  })
})

describe('a folder whose disk does not answer', () => {
  it('does not delay status, status --check and show', async () => {
    const { site, hang, untilHanging } = await hangingSite()
    await using _site = site
    await site.daemonProcess()
    site.drop('jobs.xml', feedOf(3))
    await site.until('jobs.xml', 'uploaded')
    hang('link')

    for (const command of [
      ['status', '--json'],
      ['status', '--check'],
      ['show', '1', '--json'],
    ]) {
      const ended = await Promise.race([site.process(...command), untilHanging('link')])

      expect(ended, command.join(' ')).toMatchObject({ code: 0 })
    }
  })
})
