import { describe, expect, it } from 'vitest'
import { feedOf, finished, preload, Site } from '../../helpers/site.ts'

/** stuck returns a daemon in the middle of its first upload, which does not end. */
async function stuck(site: Site) {
  const daemon = await site.daemonProcess()
  const gate = site.sandbox.faults.add({
    ...{ at: 'storage', kind: 'gate-at-byte', fileByte: 200, times: 1 },
  })
  site.drop('jobs.xml', feedOf(6))
  await gate.held()
  return { daemon, gate, ended: finished(daemon) }
}

describe('SIGTERM', () => {
  it('lets a running upload end, starts no new one, and exits 0', async () => {
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

  it('stops the check of a large file without a condition, and the next start takes the file', async () => {
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
    it(`aborts a running upload: ${second} exits ${exit}, and the next start delivers the feed`, async () => {
      await using site = await Site.open({}, { env: preload('long-grace.ts') })
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
  it('does not end an upload, and does not read the configuration again', async () => {
    await using site = await Site.open()
    const { daemon, gate } = await stuck(site)
    site.configure({ guards: { minPostings: 100 } })

    daemon.kill('SIGHUP')
    gate.remove()
    await site.until('jobs.xml', 'uploaded')
    site.drop('others.xml', feedOf(3))

    expect((await site.until('others.xml', 'uploaded')).postings).toBe(3)
    expect(site.show(1).attempts).toHaveLength(1)
  })
})
