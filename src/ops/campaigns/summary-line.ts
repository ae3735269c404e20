// Writes the last look at the campaigns for `status` as one line. The problems of campaigns stand with all others.

import { printable } from '../../lib/printable.ts'
import { countOf, relativeTime } from '../../lib/units.ts'
import type { CampaignRun } from './run.ts'

export function campaignLine(run: CampaignRun | null, now: number): string {
  if (run === null) return ''
  const { at, entries, findings, mode, problem } = run
  const states = [...Map.groupBy(entries, ({ state }) => state)]
  const counts = [
    ...states.map(([state, { length }]) => `${countOf(length)} ${state}`),
    ...(findings.length === 0 ? [] : [countOf(findings.length, 'finding')]),
  ]
  const found = problem === null ? counts.join(', ') : 'no campaign is written'
  return `campaigns (${mode}) looked at ${relativeTime(at, now)}: ${printable(found)}`
}
