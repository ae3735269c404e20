// promtool, the tool of Prometheus, reads the rules. `apt-get install prometheus` installs it.

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../helpers/history/temporary.ts'

const RULES = join(import.meta.dirname, '..', '..', '..', 'config', 'prometheus-rules.yaml')
const HAS_PROMTOOL = spawnSync('promtool', ['--version']).status === 0

const SERIES = [
  ...['feedsyncd_problems{code="rejected",severity="warning",instance="ats"}', '3x60'],
  ...['feedsyncd_problems{code="service-down",severity="critical",instance="ats"}', '0x60'],
  ...['feedsyncd_active_pauses{instance="ats"}', '1x800'],
]

it.skipIf(!HAS_PROMTOOL)(
  'promtool loads the rules, and those for rejected feeds, the service and pauses fire in time',
  () => {
    const checked = spawnSync('promtool', ['check', 'rules', RULES], { encoding: 'utf8' })
    const input_series = [0, 2, 4].map((n) => ({ series: SERIES[n], values: SERIES[n + 1] }))
    const at = (eval_time: string, alertname: string, exp_alerts: object[]) => {
      return { eval_time, alertname, exp_alerts }
    }
    const rejected = {
      exp_labels: { code: 'rejected', severity: 'warning', instance: 'ats' },
      exp_annotations: { summary: '3 feeds are rejected' },
    }
    const paused = {
      exp_labels: { severity: 'warning', instance: 'ats' },
      exp_annotations: { summary: 'feedsyncd on ats is paused for 12 hours' },
    }
    const test = join(temporaryFolder(), 'rules.test.yaml')
    const tests = [
      {
        interval: '1m',
        input_series,
        alert_rule_test: [
          at('10m', 'FeedsRejected', []),
          at('20m', 'FeedsRejected', [rejected]),
          at('20m', 'ServiceDown', []),
          at('13h', 'PauseForgotten', [paused]),
        ],
      },
    ]
    writeFileSync(test, JSON.stringify({ rule_files: [RULES], tests }))
    const fired = spawnSync('promtool', ['test', 'rules', test], { encoding: 'utf8' })

    expect(checked.stdout + checked.stderr).toContain('12 rules found')
    expect(fired.stdout + fired.stderr).toContain('SUCCESS')
    expect([checked.status, fired.status]).toEqual([0, 0])
  },
)
