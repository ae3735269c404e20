// The daemon runs against all faults of the sandbox, chosen at random by a seed. FEEDSYNCD_STORM sets the seconds
// (default 12; the nightly run takes 600), and FEEDSYNCD_SEED the seed (default 1).

import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { SECOND, systemClock } from '../../../src/lib/clock.ts'
import type { FaultRule } from '../../../src/sandbox/faults/fault-types.ts'
import { entry, fileOf, states } from '../../helpers/campaigns/file.ts'
import { eventually } from '../../helpers/eventually.ts'
import { feedOf, lettersOf } from '../../helpers/feed.ts'
import { finished, Site } from '../../helpers/site.ts'

const SECONDS = Number(process.env.FEEDSYNCD_STORM ?? 12)
const SEED = Number(process.env.FEEDSYNCD_SEED ?? 1)
const FEEDS = Array.from({ length: 16 }, (_, n) => `${lettersOf(n)}.xml`)
const CAMPAIGNS = ['A', 'B', 'C']
const STATES = ['MA', 'RI', 'TX', 'ON']

/** FAULTS has every kind except gates, which only a test opens, and false successes, which no client can detect. */
const FAULTS: readonly FaultRule[] = [
  { at: 'service', kind: 'refuse', how: 'rst' },
  { at: 'storage', kind: 'refuse', how: 'fin' },
  { at: 'service', kind: 'drop', point: 'headers', how: 'rst' },
  { at: 'storage', kind: 'drop', point: 'reuse', how: 'fin' },
  { at: 'service', kind: 'answer', status: 429, retryAfter: '1' },
  { at: 'service', kind: 'answer', status: 503 },
  { at: 'storage', kind: 'answer', status: 502, body: '<html>', point: 'headers' },
  { at: 'storage', kind: 'redirect', status: 307, location: 'same-host' },
  { at: 'service', kind: 'raw', what: 'garbage' },
  { at: 'storage', kind: 'raw', what: 'two-answers' },
  { at: 'service', kind: 'interim', status: 103 },
  { at: 'storage', kind: 'transfer', how: 'byte-by-byte' },
  { at: 'service', kind: 'connection-close' },
  { at: 'storage', kind: 'keep-alive', seconds: 60, closeAfterMs: 5, how: 'rst' },
  { at: 'service', kind: 'slow', headersAfterMs: 200 },
  { at: 'service', kind: 'json', variant: 'truncated' },
  { at: 'service', kind: 'date', skewMs: 3_600_000 },
  { at: 'service', kind: 'commit-drop', how: 'rst' },
  { at: 'service', kind: 'commit-drop', how: 'fin', afterMs: 300, route: 'campaign-update' },
  { at: 'service', kind: 'signature-mismatch' },
  { at: 'service', kind: 'form', lifetimeMs: -1000 },
  { at: 'storage', kind: 's3-error', code: 'SlowDown', retryAfter: '1' },
  { at: 'storage', kind: 's3-error', code: 'InternalError', point: 'middle', ending: 'destroy' },
  { at: 'storage', kind: 's3-error', code: 'ExpiredToken' },
  { at: 'storage', kind: 'drop-at-byte', fileByte: -1, how: 'rst' },
  { at: 'storage', kind: 'lose-answer', stored: true, how: 'rst' },
  { at: 'storage', kind: 'lose-answer', stored: true, how: 'fin', afterMs: 200 },
  { at: 'storage', kind: 'lose-answer', stored: false, how: 'rst' },
  { at: 'storage', kind: 'throttle', bytesPerSecond: 50_000 },
  { at: 'storage', kind: 'stall', fileByte: 100, ms: 200, afterwards: 'rst' },
  { at: 'storage', kind: 'success', status: 200, etag: 'opaque' },
]

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

it(
  `during ${SECONDS} s of faults, the daemon loses no feed, repeats only attempts with an unknown outcome, and creates no campaign`,
  async () => {
    await using site = await Site.open({ campaigns: { file: 'campaigns.yaml' } })
    const { sandbox } = site
    const campaignsFile = (n: number) => {
      const entries = CAMPAIGNS.map((key, i) => entry(key, states(STATES[(n + i) % 4] ?? 'MA')))
      writeFileSync(join(site.root, 'campaigns.yaml'), fileOf(...entries))
    }
    campaignsFile(0)
    // The file is read only after it has stopped changing.
    const { digest } = await eventually(async () => {
      const { code, stdout } = await site.run('campaigns', 'plan', '--json')
      expect(code).toBe(2)
      return JSON.parse(stdout)
    })
    expect((await site.run('campaigns', 'apply', '--plan', digest)).code).toBe(0)
    const made = sandbox.campaigns.all.map(({ id }) => id)
    const newest = new Map<string, string>()

    FAULTS.forEach((fault, n) => {
      // The fault that leads to duplicates comes more often.
      const percent = fault.kind === 'lose-answer' ? 10 : 2
      sandbox.faults.add({ ...fault, percent, seed: 100 * SEED + n })
    })
    const daemon = await site.daemonProcess()
    const end = systemClock.monotonic() + SECONDS * SECOND
    for (let n = 0; systemClock.monotonic() < end; n++) {
      const path = FEEDS[n % FEEDS.length] ?? ''
      const feed = feedOf(20 + (n % 5), `Nurse ${SEED} ${n} of ${path}`)
      site.drop(path, feed)
      newest.set(path, sha256(feed))
      if (n % 10 === 9) campaignsFile(n)
      await systemClock.sleep(300)
    }
    const met = new Set(sandbox.requests().flatMap(({ faults }) => faults))
    sandbox.faults.clear()
    daemon.kill('SIGTERM')
    await finished(daemon)
    await rested(site)

    const stored = Map.groupBy(sandbox.objects(), (object) => object.sha256)
    for (const [path, hash] of newest) {
      const [version] = site.uploads({ feed: path })
      expect([path, version?.state, version?.sha256]).toEqual([path, 'uploaded', hash])
      expect(stored.has(hash)).toBe(true)
    }
    const twice = site.uploads({ all: true }).filter(({ id, sha256: hash }) => {
      const writes = (stored.get(hash ?? '') ?? []).reduce((sum, one) => sum + one.writes, 0)
      const { attempts } = site.show(id)
      const unknown = attempts.filter(({ outcome }) => outcome === 'unknown').length
      return writes > unknown + 1
    })
    expect(twice).toEqual([])
    // The daemon created no campaign, and each campaign kept its entry.
    expect(sandbox.campaigns.all.map(({ id }) => id)).toEqual(made)
    const entries = sandbox.campaigns.all.map(({ targeting }) => targeting?.externalCampaignId)
    expect(entries.sort()).toEqual(CAMPAIGNS)
    expect(met.size).toBeGreaterThan(Math.min(8, SECONDS))
    expect(sandbox.requests().filter(({ code }) => code?.startsWith('sandbox-bug'))).toEqual([])
  },
  SECONDS * 2 * SECOND + 180 * SECOND,
)

/** rested runs a few passes without faults, until each version has its final state. */
async function rested(site: Site): Promise<void> {
  for (let pass = 0; pass < 8; pass++) {
    await site.run('run', '--once')
    const waiting = site.uploads({ states: ['queued', 'failed', 'settling', 'checking'] })
    if (waiting.length === 0) return
    for (const { id } of waiting) await site.run('retry', String(id))
  }
}
