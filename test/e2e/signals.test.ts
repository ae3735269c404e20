import { describe, expect, it, vi } from 'vitest'
import { MINUTE } from '../../src/lib/clock.ts'
import { feedOf, finished, preload, Site } from '../helpers/site.ts'

const STALL = { at: 'storage', kind: 'stall', fileByte: 200, ms: MINUTE } as const

/** A daemon in the middle of an upload that will not end by itself. */
async function stuck(site: Site) {
  const daemon = await site.daemon()
  const fault = site.sandbox.faults.add({ ...STALL, afterwards: 'continue' })
  site.drop('jobs.xml', feedOf(6))
  await site.sandbox.waitForRequest(({ fileBytes }) => (fileBytes ?? 0) >= STALL.fileByte)
  fault.remove()
  const stopping = new Promise<void>((resolve) => {
    daemon.stdout?.on('data', (chunk) => String(chunk).includes('stopping') && resolve())
  })
  return { daemon, stopping, ended: finished(daemon) }
}

describe('SIGTERM', () => {
  it('lets an upload that runs come to its end, and starts nothing new', async () => {
    await using site = await Site.open({ upload: { concurrency: 1 } })
    const daemon = await site.daemon()
    const slow = { at: 'storage', kind: 'throttle', bytesPerSecond: 400_000 } as const
    site.sandbox.faults.add({ ...slow, times: 1 })
    site.drop('a.xml', feedOf(2000))
    await site.sandbox.waitForRequest(({ fileBytes }) => (fileBytes ?? 0) > 0)
    site.drop('b.xml', feedOf(2))
    await site.until('b.xml', 'queued')

    const ended = finished(daemon)
    daemon.kill('SIGTERM')
    const { code } = await ended

    expect(code).toBe(0)
    expect(site.uploads({ feed: 'a.xml' })[0]).toMatchObject({ state: 'uploaded', attempts: 1 })
    expect(site.uploads({ feed: 'b.xml' })[0]).toMatchObject({ state: 'queued', attempts: 0 })
  })

  it('cuts the check of a large file short, which is taken at the next start', async () => {
    await using site = await Site.open({}, { env: preload('slow-reading.ts') })
    const daemon = await site.daemon()
    site.drop('large.xml', feedOf(100_000))
    await site.until('large.xml', 'checking')

    const ended = finished(daemon)
    daemon.kill('SIGTERM')
    const { code, stdout, stderr } = await ended
    const [stopped] = site.uploads()
    site.env = {}
    await site.daemon()

    expect(code).toBe(0)
    expect(stopped).toMatchObject({ state: 'settling', reason: 'the daemon stopped' })
    expect(stdout + stderr).not.toContain('hindered')
    expect((await site.until('large.xml', 'uploaded')).postings).toBe(100_000)
  })
})

describe('a second signal', () => {
  for (const [first, second, exit] of [
    ['SIGTERM', 'SIGTERM', 143],
    ['SIGINT', 'SIGINT', 130],
  ] as const) {
    it(`aborts what runs: ${second} exits ${exit}, and the next start delivers it`, async () => {
      await using site = await Site.open()
      const { daemon, ended, stopping } = await stuck(site)

      daemon.kill(first)
      await stopping
      daemon.kill(second)
      const { code } = await ended
      const [left] = site.uploads()
      await site.daemon()
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
    const refusal = site.sandbox.faults.add({ at: 'service', kind: 'signature-mismatch' })
    const daemon = await site.daemon()
    const refused = new Promise<void>((resolve) => {
      daemon.stdout?.on('data', (text) => String(text).includes('credentials refused') && resolve())
    })
    site.drop('jobs.xml', feedOf(3))
    await refused
    refusal.remove()

    daemon.kill('SIGHUP')

    expect((await site.until('jobs.xml', 'uploaded')).postings).toBe(3)
  })

  it('lists the folder without waiting for the next scan', async () => {
    await using site = await Site.open({ inbox: { rescan: '1h', watch: 'poll' } })
    const daemon = await site.daemon()
    const status = async () => JSON.parse((await site.run('status', '--json')).stdout).daemon
    await vi.waitUntil(async () => (await status()).lastScanAt !== null, { timeout: 60_000 })
    site.drop('jobs.xml', feedOf(3))

    daemon.kill('SIGHUP')

    expect((await site.until('jobs.xml', 'uploaded')).postings).toBe(3)
  })
})
