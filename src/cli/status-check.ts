// `status --check`: one line and an exit code as monitoring plugins give them.

import type { StatusReport, UploadReport } from '../history/report.ts'
import { relativeTime } from '../lib/units.ts'
import { printable } from './render.ts'
import { staleness, type View } from './status-view.ts'

/** Beyond this a pager shows nothing anyway. */
const MOST_NAMED = 5

/** 0 ok, 1 warning, 2 critical; whoever cannot answer says 3. */
export function statusCheck(
  report: StatusReport,
  view: Pick<View, 'now' | 'staleAfterMs'>,
): { code: number; line: string } {
  const { now } = view
  const { daemon, service, uploads } = report
  const all = [...uploads, ...report.owed]
  const stale = staleness(report, view)
  const critical = [
    ...(daemon.running ? [] : ['the daemon is not running']),
    ...(daemon.folderReason === null ? [] : [daemon.folderReason]),
    ...(stale === null ? [] : [stale]),
    ...(service.state === 'credentials' || service.state === 'down'
      ? [`service ${service.state}: ${service.reason}`]
      : []),
    ...named(all.filter(({ state }) => state === 'failed')),
  ]
  const late = uploads.filter(({ overdue }) => overdue)
  const warning = [
    ...(service.state === 'degraded' ? [`service degraded: ${service.reason}`] : []),
    ...named(all.filter(({ state }) => ['held', 'rejected', 'incomplete'].includes(state))),
    ...some(
      late.map(({ feed, expectedBy }) => {
        return `${feed} overdue: expected ${relativeTime(expectedBy, now)}`
      }),
    ),
  ]
  const count = `${uploads.length} feed${uploads.length === 1 ? '' : 's'}`
  const facts = `${count}, folder listed ${relativeTime(daemon.lastScanAt, now)}`
  const line = (word: string, parts: string[]) => printable(`${word} - ${parts.join('; ')}`)
  // What is critical comes first, and hides nothing: a receiver may cut the line.
  if (critical.length > 0) return { code: 2, line: line('CRITICAL', [...critical, ...warning]) }
  if (warning.length > 0) return { code: 1, line: line('WARNING', warning) }
  return { code: 0, line: `OK - ${facts}` }
}

function named(uploads: readonly UploadReport[]): string[] {
  return some(uploads.map(({ feed, state, reason }) => `${feed} ${state}: ${reason}`))
}

function some(texts: readonly string[]): string[] {
  const more = texts.length - MOST_NAMED
  return more > 0 ? [...texts.slice(0, MOST_NAMED), `and ${more} more like it`] : [...texts]
}
