// Writes the last look at the campaigns for `status`: one line, and the points that need a person.

import type { CampaignRun } from '../../campaigns/port.ts'
import { limited } from '../../lib/limited.ts'
import { relativeTime } from '../../lib/units.ts'
import { hintText } from '../../ops/advice.ts'
import { campaignConditionText, openCampaignConditions } from '../../ops/campaign-conditions.ts'
import type { CommandLine } from '../../ops/port.ts'
import { printable } from '../render.ts'

/** The most points that the text shows; `--json` has all of them. */
const MOST = 10

export function campaignLines(
  run: CampaignRun | null,
  { now, commandLine }: { now: number; commandLine: CommandLine },
): string[] {
  if (run === null) return []
  const { at, mode, problem, hint, entries, findings } = run
  const step = (text: string | null) =>
    text === null ? [] : [`  ${printable(hintText(text, commandLine))}`]
  const states = [...Map.groupBy(entries, ({ state }) => state)]
  const counts = [
    ...states.map(([state, { length }]) => `${length} ${state}`),
    ...(findings.length === 0
      ? []
      : [`${findings.length} finding${findings.length === 1 ? '' : 's'}`]),
  ]
  // The problem of a run that stopped is in the first line.
  const points = openCampaignConditions(run).filter(({ event }) => event !== 'campaigns-stopped')
  const lines = points.map((point) =>
    [`next: ${printable(campaignConditionText(point))}`, ...step(point.hint)].join('\n'),
  )
  return [
    `campaigns (${mode}) looked at ${relativeTime(at, now)}: ${printable(problem ?? counts.join(', '))}`,
    ...(problem === null ? [] : step(hint)),
    ...limited(
      lines,
      MOST,
      (more) => `next: ${more} more campaigns\n  ${commandLine('campaigns plan')}`,
    ),
  ]
}
