// The daemon's last look at the campaigns, in `status`: one line, and what needs a person.

import { relativeTime } from '../../lib/units.ts'
import { openPoints } from '../../ops/campaign-conditions.ts'
import type { CampaignRun, CommandLine } from '../../ops/port.ts'
import { printable } from '../render.ts'

/** Entries that a person can take in; `--json` has them all. */
const MOST = 10

export function campaignLines(
  run: CampaignRun | null,
  { now, commandLine }: { now: number; commandLine: CommandLine },
): string[] {
  if (run === null) return []
  const { at, mode, problem, hint, pending, planId, waiting, vanished = [], findings = [] } = run
  const facts = [
    ...(problem === null ? [] : [printable(problem)]),
    ...(pending === 0 ? [] : [`${pending} to make (plan ${planId})`]),
    ...(waiting.length === 0 ? [] : [needsOf(waiting.length)]),
    ...(findings.length === 0 ? [] : [`${findings.length} differ from the file`]),
    ...(vanished.length === 0 ? [] : [`${vanished.length} run on without a feed`]),
  ]
  const found = facts.length === 0 ? 'nothing to do' : facts.join('; ')
  const lines = [`campaigns (${mode}) looked at ${relativeTime(at, now)}: ${found}`]
  if (problem !== null && hint !== null) lines.push(`  ${printable(hint)}`)
  const points = openPoints(run)
  for (const { campaign, reason, hint } of points.slice(0, MOST)) {
    const of = campaign === null ? '' : `campaign ${campaign}: `
    lines.push(`next: ${printable(`${of}${reason}`)}`)
    if (hint !== null) lines.push(`  ${printable(hint)}`)
  }
  const more = points.length - MOST
  if (more > 0) lines.push(`next: ${more} more campaigns`)
  if (more > 0 || pending > 0) lines.push(`  ${commandLine('campaigns plan')}`)
  return lines
}

const needsOf = (count: number) =>
  count === 1 ? '1 change needs your decision' : `${count} changes need your decision`
