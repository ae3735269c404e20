// `status --check` prints one line and sets an exit code, like a monitoring plugin.

import type { CampaignRun } from '../campaigns/port.ts'
import { isBlocked } from '../history/reason-codes.ts'
import { HOUR } from '../lib/clock.ts'
import { conditionText, type Severity } from '../lib/conditions.ts'
import { isRecent } from '../lib/due.ts'
import { relativeTime } from '../lib/units.ts'
import { pauseLines } from '../ops/advice.ts'
import { campaignConditions, campaignConditionText } from '../ops/campaign-conditions.ts'
import type { StatusReport, UploadReport } from '../ops/report.ts'
import { middleCut, printable } from './render.ts'
import { staleness, type View } from './status-view.ts'

/** Longest line in characters: pagers and phones show it whole. */
const LONGEST = 200
/** A sentence that is cut to fewer characters says nothing. */
const LEAST = 40
/** The daemon looks at the campaigns each hour. After this time its last look is late. */
const LATE_PASS_MS = 3 * HOUR

export interface Checked {
  code: number
  line: string
}

/** statusCheck answers 0 ok, 1 warning or 2 critical. Callers answer 3, unknown, without a report or the feed. */
export function statusCheck(
  report: StatusReport,
  view: Pick<View, 'now' | 'staleAfterMs'>,
): Checked {
  const { now } = view
  const { daemon, service, uploads } = report
  const all = [...uploads, ...report.owed]
  const stale = staleness(report, view)
  const critical = [
    ...(daemon.running ? [] : ['the daemon is not running']),
    ...conditionTexts(daemon, 'critical'),
    ...(stale === null ? [] : [stale]),
    ...(service.state === 'down' ? [`service ${service.state}: ${service.reason}`] : []),
    ...uploadTexts(all.filter((upload) => upload.state === 'failed' || isBlocked(upload))),
  ]
  const campaigns = campaignProblems(report.campaigns ?? null, daemon.running, now)
  critical.push(...campaigns.critical)
  const skipped = report.skipped.map(({ path, reason }) => `${path} skipped: ${reason}`)
  const late = uploads.filter(({ overdue }) => overdue)
  const warning = [
    ...conditionTexts(daemon, 'warning'),
    ...pauseLines(report, now, (command) => command).map(({ says }) => says),
    ...(service.state === 'degraded' ? [`service degraded: ${service.reason}`] : []),
    ...uploadTexts(all.filter(({ state }) => ['held', 'rejected', 'incomplete'].includes(state))),
    ...skipped,
    ...late.map(({ feed, expectedBy }) => {
      return `${feed} overdue: expected ${relativeTime(expectedBy, now)}`
    }),
    ...campaigns.warning,
  ]
  const count = `${uploads.length} feed${uploads.length === 1 ? '' : 's'}`
  const facts = `${count}, folder listed ${relativeTime(daemon.lastScanAt, now)}`
  if (critical.length > 0) return { code: 2, line: lineOf('CRITICAL', [...critical, ...warning]) }
  if (warning.length > 0) return { code: 1, line: lineOf('WARNING', warning) }
  return { code: 0, line: lineOf('OK', [facts]) }
}

/**
 * lineOf joins as many parts as fit and counts the others. If there is too little room, the first part loses its middle
 * and the last part loses its end.
 */
export function lineOf(word: string, parts: readonly string[]): string {
  const [first = '', ...others] = parts.map(printable)
  const more = (left: number) => (left === 0 ? '' : `; and ${left} more`)
  let line = `${word} - ${first}`
  let left = others.length
  for (const part of others) {
    const room = LONGEST - line.length - '; '.length - more(left - 1).length
    if (part.length > room && room < LEAST) break
    line += `; ${part.length > room ? `${part.slice(0, room - 1)}…` : part}`
    left -= 1
  }
  return middleCut(line, LONGEST - more(left).length) + more(left)
}

/** campaignProblems returns the conditions that alerts report too. A problem that may pass counts only after a time. */
function campaignProblems(run: CampaignRun | null, daemonRuns: boolean, now: number) {
  const isLate = run !== null && daemonRuns && !isRecent(Date.parse(run.at), now, LATE_PASS_MS)
  const late = isLate ? [`last look at the campaigns: ${relativeTime(run.at, now)}`] : []
  const found = campaignConditions(run)
  const texts = (isCritical: boolean) =>
    found.filter((one) => one.isCritical === isCritical).map(campaignConditionText)
  return { critical: texts(true), warning: [...texts(false), ...late] }
}

function conditionTexts({ conditions }: StatusReport['daemon'], of: Severity): string[] {
  return conditions.filter(({ severity }) => severity === of).map(conditionText)
}

function uploadTexts(uploads: readonly UploadReport[]): string[] {
  return uploads.map(({ feed, state, reason }) => `${feed} ${state}: ${reason}`)
}
