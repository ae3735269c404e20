import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { systemClock } from '../../../../src/lib/clock.ts'
import { createMetrics } from '../../../../src/ops/metrics/metrics.ts'
import { PROBLEM_CODES } from '../../../../src/ops/problem-kinds.ts'
import { temporaryHistory } from '../../../helpers/history/temporary.ts'
import { daemonState } from '../../../helpers/ops/daemon-state.ts'

const CONFIG = join(import.meta.dirname, '..', '..', '..', '..', 'config')

interface Rule {
  alert: string
  expr: string
  for?: string
  labels: { severity: string }
  annotations: { summary: string }
}

/** served returns the names of the metrics that the daemon serves, including the names of the parts of a histogram. */
async function served(): Promise<Set<string>> {
  const metrics = createMetrics({ version: '1.2.3', startedAt: 1000 })
  const { history } = temporaryHistory()
  const text = await metrics.text({
    ...{ history, clock: systemClock, daemon: () => daemonState() },
    ...{ campaigns: () => null, problems: () => [] },
  })
  return new Set([...text.matchAll(/^(\w+)[ {]/gm)].map(([, name = '']) => name))
}

const namesIn = (expr: string) => expr.match(/feedsyncd_\w+/g) ?? []
const codesIn = (expr: string) =>
  [...expr.matchAll(/code=~?"([^"]+)"/g)].flatMap(([, codes = '']) => codes.split('|'))

describe('config/prometheus-rules.yaml', () => {
  const { groups } = parse(readFileSync(join(CONFIG, 'prometheus-rules.yaml'), 'utf8')) as {
    groups: { name: string; rules: Rule[] }[]
  }
  const rules = groups.flatMap((group) => group.rules)

  it('has a group of rules, each with an alert of its own, a duration, a severity and a summary', () => {
    expect(Object.keys(groups[0] ?? {})).toEqual(['name', 'rules'])
    for (const rule of rules) {
      expect(rule.alert).toMatch(/^[A-Z][A-Za-z]+$/)
      expect(rule.for ?? '1m').toMatch(/^\d+[smhd]$/)
      expect(['critical', 'warning']).toContain(rule.labels.severity)
      expect(rule.annotations.summary).not.toBe('')
    }
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
  })

  it('asks only for metrics that are served and for kinds of problems that exist', async () => {
    const names = await served()

    const asked = rules.flatMap(({ expr }) => namesIn(expr))
    const codes = rules.flatMap(({ expr }) => codesIn(expr))
    expect([asked.length, codes.length]).not.toContain(0)
    expect(asked.filter((name) => !names.has(name))).toEqual([])
    expect(codes.filter((code) => !PROBLEM_CODES.some((one) => one === code))).toEqual([])
  })

  it('has an alert for rejected feeds, a forgotten pause and a service that is down', () => {
    expect(rules.map(({ alert }) => alert)).toEqual(
      expect.arrayContaining(['FeedsRejected', 'PauseForgotten', 'ServiceDown']),
    )
  })
})

describe('config/grafana-dashboard.json', () => {
  const dashboard = JSON.parse(readFileSync(join(CONFIG, 'grafana-dashboard.json'), 'utf8'))
  const panels = dashboard.panels as {
    id: number
    title: string
    gridPos: { x: number; w: number }
    targets: { expr: string; datasource: { uid: string } }[]
  }[]

  it('asks for its data source when it is imported, and uses this data source in each panel', () => {
    const [{ name }] = dashboard.__inputs
    const sources = panels.flatMap(({ targets }) => targets.map(({ datasource }) => datasource.uid))

    expect(new Set(sources)).toEqual(new Set([`\${${name}}`]))
  })

  it('has panels that fit into its 24 columns, each with an id of its own', () => {
    const ends = panels.map(({ gridPos }) => gridPos.x + gridPos.w)

    expect(Math.max(...ends)).toBe(24)
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  })

  it('shows uploads, durations, bytes, states and waits, from metrics that are served', async () => {
    const names = await served()
    const asked = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => namesIn(expr)))

    expect(asked.filter((name) => !names.has(name))).toEqual([])
    expect(asked).toEqual(
      expect.arrayContaining([
        ...['feedsyncd_uploads_total', 'feedsyncd_upload_duration_seconds_bucket'],
        ...['feedsyncd_upload_bytes_total', 'feedsyncd_versions', 'feedsyncd_problems'],
        'feedsyncd_queue_oldest_timestamp_seconds',
      ]),
    )
  })
})
