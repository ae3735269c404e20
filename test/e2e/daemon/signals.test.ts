import type { ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Command } from '../../helpers/command.ts'
import { eventuallyTrue } from '../../helpers/eventually.ts'
import { onNetwork } from '../../helpers/inbox/network-folder.ts'
import { statusOf } from '../../helpers/look.ts'
import { feedOf, finished, preload, Site } from '../../helpers/site.ts'

/** A daemon in the middle of its first upload, which does not end. */
async function stuck(site: Site) {
  const daemon = await site.daemonProcess()
  const gate = site.sandbox.faults.add({
    ...{ at: 'storage', kind: 'gate-at-byte', fileByte: 200, times: 1 },
  })
  site.drop('jobs.xml', feedOf(6))
  await gate.held()
  return { daemon, ended: finished(daemon) }
}

/** A daemon whose feed waits, since its credentials were refused; by now they are right. */
async function refused<T extends ChildProcess | Command>(site: Site, start: () => Promise<T>) {
  const refusal = site.sandbox.faults.add({ at: 'service', kind: 'signature-mismatch' })
  const daemon = await start()
  site.drop('jobs.xml', feedOf(3))
  await site.logged(daemon, 'credentials refused')
  refusal.remove()
  return daemon
}

describe('SIGTERM', () => {
  it('lets an upload that runs come to its end, and starts nothing new', async () => {
    await using site = await Site.open({ upload: { concurrency: 1 } })
    const daemon = await site.daemon()
    const gate = site.sandbox.faults.add({ at: 'storage', kind: 'gate', point: 'end' })
    site.drop('a.xml', feedOf(20))
    await gate.held()
    site.drop('b.xml', feedOf(2))
    await site.until('b.xml', 'queued')

    daemon.kill('SIGTERM')
    await site.logged(daemon, '"stopping"')
    gate.remove()
    const { code } = await daemon.ended

    expect(code).toBe(0)
    expect(site.uploads({ feed: 'a.xml' })[0]).toMatchObject({ state: 'uploaded', attempts: 1 })
    expect(site.uploads({ feed: 'b.xml' })[0]).toMatchObject({ state: 'queued', attempts: 0 })
  })

  it('cuts the check of a large file short, which is taken at the next start', async () => {
    await using site = await Site.open()
    const reading = site.holdReading()
    const daemon = await site.daemonProcess()
    site.drop('held.xml', feedOf(3_000, 'Nurse'.padEnd(3_000, '.')))
    await site.passed('held.xml', 'checking')

    const ended = finished(daemon)
    daemon.kill('SIGTERM')
    const { code, stdout, stderr } = await ended
    const [stopped] = site.uploads()
    reading.release()
    await site.daemonProcess()

    expect(code).toBe(0)
    expect(stopped).toMatchObject({ state: 'settling', reason: 'the daemon stopped' })
    expect(stdout + stderr).not.toContain('daemon.condition')
    expect((await site.until('held.xml', 'uploaded')).postings).toBe(3_000)
  })
})

describe('a second signal', () => {
  for (const [first, second, exit] of [
    ['SIGTERM', 'SIGTERM', 143],
    ['SIGINT', 'SIGINT', 130],
  ] as const) {
    it(`aborts what runs: ${second} exits ${exit}, and the next start delivers it`, async () => {
      await using site = await Site.open({}, { env: preload('patient-grace.ts') })
      const { daemon, ended } = await stuck(site)

      daemon.kill(first)
      await site.logged(daemon, '"stopping"')
      daemon.kill(second)
      const { code } = await ended
      const [left] = site.uploads()
      await site.daemonProcess()
      const { id } = await site.until('jobs.xml', 'uploaded')

      expect(code).toBe(exit)
      expect(left).toMatchObject({ state: 'queued', reason: 'the daemon stopped' })
      expect(site.show(id).attempts.map(({ outcome }) => outcome)).toEqual(['unknown', 'stored'])
      expect(site.sandbox.objects()).toHaveLength(1)
    })
  }
})

describe('SIGHUP', () => {
  it('tries refused credentials again at once', async () => {
    await using site = await Site.open()
    const daemon = await refused(site, () => site.daemon())

    daemon.kill('SIGHUP')

    expect((await site.until('jobs.xml', 'uploaded')).postings).toBe(3)
  })

  it('lists the folder without waiting for the next scan', async () => {
    onNetwork()
    await using site = await Site.open({ inbox: { rescan: '1h' } })
    const daemon = await site.daemon()
    await eventuallyTrue(() => statusOf(site).daemon.lastScanAt !== null)
    site.drop('jobs.xml', feedOf(3))

    daemon.kill('SIGHUP')

    expect((await site.until('jobs.xml', 'uploaded')).postings).toBe(3)
  })

  it.each([
    ['another process writes to the database', 'SQLITE_BUSY', 'database-locked'],
    ['the disk is full', 'SQLITE_FULL', 'state-full'],
  ])('tries them again after a while where %s at that moment', async (_, code, condition) => {
    await using site = await Site.open()
    const [failing, log] = [join(site.root, 'fail'), join(site.root, 'failed')]
    writeFileSync(log, '')
    site.env = {
      ...preload('failing-writes.ts', 'fast-time.ts'),
      ...{ FEEDSYNCD_FAIL_FILE: failing, FEEDSYNCD_FAIL_LOG: log },
      FEEDSYNCD_FAIL_ONLY: 'update versions',
    }
    const daemon = await refused(site, () => site.daemonProcess())

    writeFileSync(failing, code)
    daemon.kill('SIGHUP')
    await site.logged(daemon, `"${condition}"`)

    expect((await site.until('jobs.xml', 'uploaded')).postings).toBe(3)
    expect(readFileSync(log, 'utf8')).toBe('update versions\n')
    expect([daemon.exitCode, daemon.signalCode]).toEqual([null, null])
  })

  it('fifty times while a feed is sent does not send it again', async () => {
    await using site = await Site.open()
    const gate = site.sandbox.faults.add({ at: 'storage', kind: 'gate', point: 'end' })
    const daemon = await site.daemon()
    site.drop('a.xml', feedOf(30))
    await gate.held()
    for (let n = 0; n < 50; n++) {
      site.configure({ upload: { concurrency: 1 + (n % 4) }, guards: { minPostings: 1 + (n % 9) } })
      daemon.kill('SIGHUP')
      await setImmediate()
    }
    await site.logged(daemon, '"configuration reloaded"')
    gate.remove()

    await site.until('a.xml', 'uploaded')

    expect(site.show(1).attempts).toHaveLength(1)
    expect(site.sandbox.objects()).toHaveLength(1)
  })
})
