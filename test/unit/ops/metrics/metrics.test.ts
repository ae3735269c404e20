import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Verdict } from '../../../../src/feed/port.ts'
import { systemClock } from '../../../../src/lib/clock.ts'
import type { CampaignRun } from '../../../../src/ops/campaigns/run.ts'
import { createMetrics, RULES } from '../../../../src/ops/metrics/metrics.ts'
import { because, temporaryHistory, versionIn } from '../../../helpers/history/temporary.ts'
import { hostileNames } from '../../../helpers/hostile-names.ts'
import { campaignRun, campaignSeen } from '../../../helpers/ops/campaign-run.ts'
import { daemonState } from '../../../helpers/ops/daemon-state.ts'
import { samplesOf } from '../../../helpers/ops/exposition.ts'
import { statusWith } from '../../../helpers/ops/status-report.ts'

const SRC = join(import.meta.dirname, '..', '..', '..', '..', 'src')

function bench(run: CampaignRun | null = null) {
  const { history } = temporaryHistory()
  const source = {
    ...{ history, clock: systemClock, daemon: () => daemonState() },
    campaigns: (): CampaignRun | null => run,
    problems: () => statusWith({ campaigns: run }).problems,
  }
  const metrics = createMetrics({ version: '1.2.3', startedAt: 1000 })
  return { history, metrics, samples: async () => samplesOf(await metrics.text(source)) }
}

const broken = (code: string): Verdict => ({ kind: 'broken', code, reason: '', position: null })

it('the metrics name every rule by which the check can refuse a document', () => {
  const text = ['feed', 'xml']
    .flatMap((folder) =>
      readdirSync(join(SRC, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        join(SRC, folder, name),
      ),
    )
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(name, 'utf8'))
    .join('\n')
  const codes = [...text.matchAll(/\b(?:code: |compressed\()'([\w-]+)'/g)].map(([, code]) => code)
  const lengths = [...text.matchAll(/\btooLong\('(\w+)'/g)].map(([, what]) => `${what}-too-long`)

  expect(codes.length).toBeGreaterThan(10)
  expect([...codes, ...lengths].filter((code) => !RULES.includes(code ?? ''))).toEqual([])
})

it('the metrics count refused and incomplete documents by rule, from 0 on, and an unknown rule as other', async () => {
  const { metrics, samples } = bench()
  const before = await samples()

  metrics.checked(broken('doctype-refused'))
  metrics.checked(broken('a-rule-of-next-year'))
  metrics.checked({ kind: 'incomplete', reason: '', position: { offset: 0, line: 1, column: 1 } })

  const after = await samples()
  const value = (rule: string) => {
    const name = `feedsyncd_validation_errors_total{rule="${rule}"}`
    return [before.get(name), after.get(name)]
  }
  expect(['doctype-refused', 'other', 'incomplete', 'html'].map(value)).toEqual([
    ...[
      [0, 1],
      [0, 1],
      [0, 1],
    ],
    [0, 0],
  ])
})

it('the metrics count each campaign that waits, and a problem of all campaigns once, and hold the time of the last look', async () => {
  const entries = [
    campaignSeen({ state: 'differs' }),
    campaignSeen({ key: 'DRV', state: 'in line' }),
  ]
  // An unusable file is a problem of all campaigns.
  const run = campaignRun({ at: '2026-11-20T12:00:00.000Z', state: 'unusable', entries })
  const { samples } = bench(run)

  const after = await samples()
  const value = (name: string) => after.get(`feedsyncd_campaigns_${name}`)
  expect(value('waiting')).toBe(2)
  expect(value('last_look_timestamp_seconds')).toBe(Date.UTC(2026, 10, 20, 12) / 1000)
})

it('the metrics hold no text of a vendor, whatever names the feeds have', async () => {
  const { history, metrics, samples } = bench()
  const before = [...(await samples()).keys()]
  for (const [n, feed] of hostileNames(200).entries()) {
    versionIn(history, n % 2 ? 'uploaded' : 'held', { feed, reason: because(feed, feed) })
    metrics.moved(n % 2 ? 'uploaded' : 'held')
    metrics.attemptEnded({ status: 204, bytesSent: 700, ms: 5 })
    metrics.checked(broken(feed))
  }

  expect([...(await samples()).keys()]).toEqual(before)
})

it('docs/metrics.md lists exactly the metrics that are served', async () => {
  const text = readFileSync(join(SRC, '..', 'docs', 'metrics.md'), 'utf8')
  const { samples } = bench()

  const served = [...(await samples()).keys()].map((name) =>
    name
      .replace(/\{.*/, '')
      .replace(/^feedsyncd_/, '')
      .replace(/_(bucket|sum|count)$/, ''),
  )
  const [table = ''] = text.match(/^\| name[\s\S]*?\n\n/m) ?? []
  const named = [...table.matchAll(/`(\w+_\w+|versions|problems)(?:\{[\w,]+\})?`/g)].map(
    ([, name]) => name,
  )
  expect(new Set(served.filter((name) => !name.startsWith('process_')))).toEqual(
    new Set(named.filter((name) => name !== 'feedsyncd_')),
  )
})
