// `status` for people and for monitoring: one line of health, a table, and what to do next.

import type { StatusReport, UploadReport } from '../history/report.ts'
import { formatBytes } from '../lib/units.ts'
import { printable, relativeTime, styled, table } from './render.ts'

export interface View {
  now: number
  terminal: boolean
  /** Columns of the terminal; null: nothing is cut. */
  width: number | null
}

export function statusText(report: StatusReport, view: View): string {
  const { now, width } = view
  const rows = report.uploads.map((upload) => [
    upload.id,
    upload.feed,
    upload.state,
    upload.postings,
    upload.bytes === null ? null : formatBytes(upload.bytes),
    upload.attempts,
    relativeTime(upload.uploadedAt ?? upload.detectedAt, now),
    upload.reason ?? '',
  ])
  const headers = ['id', 'feed', 'state', 'postings', 'size', 'attempts', 'when', 'reason']
  const body = rows.length === 0 ? 'no feed has been seen yet' : table(headers, rows, width)
  const notes = [...unfinished(report, now), ...nextActions(report, now)]
  return [health(report, view), '', body, ...(notes.length === 0 ? [] : ['', ...notes])].join('\n')
}

function health(report: StatusReport, { now, terminal }: View): string {
  const { daemon, service } = report
  const parts = [
    daemon.running
      ? styled('green', `daemon running (pid ${daemon.pid})`, terminal)
      : styled('yellow', 'daemon not running', terminal),
    daemon.lastScanAt === null
      ? 'folder not listed yet'
      : `folder listed ${relativeTime(daemon.lastScanAt, now)} (${daemon.mode})`,
    `service ${service.state}${service.reason === null ? '' : `: ${printable(service.reason)}`}`,
  ]
  if (daemon.folderReason !== null)
    parts.push(styled('red', printable(daemon.folderReason), terminal))
  return parts.join('; ')
}

/** What writers began and never renamed is no feed, and nobody else would miss it. */
function unfinished({ daemon }: StatusReport, now: number): string[] {
  return daemon.unfinished.map(
    ({ path, modifiedAt }) =>
      `unfinished: ${printable(path)}: last written ${relativeTime(modifiedAt, now)}; ` +
      'rename it if it is whole, else remove it',
  )
}

/** Lines that a person can take in; `--json` has them all. */
const MOST_ACTIONS = 50
/** Nobody has to do anything about these. */
const MOVING: readonly UploadReport['state'][] = ['settling', 'checking', 'uploading']

/** Feeds that need something, with what it is: the answer to "and now?". What goes by itself comes last. */
function nextActions(report: StatusReport, now: number): string[] {
  const uploads = [...report.uploads, ...report.owed]
  const isMoving = ({ state }: UploadReport) => Number(MOVING.includes(state))
  const lines = uploads
    .toSorted((a, b) => isMoving(a) - isMoving(b))
    .flatMap((upload) => {
      const action = nextAction(upload, now)
      return action === null
        ? []
        : [`next: ${printable(`${upload.feed} (${upload.id})`)}: ${printable(action)}`]
    })
  const shown = lines.slice(0, MOST_ACTIONS)
  const more = lines.length - shown.length
  return more === 0 ? shown : [...shown, `next: ${more} more: feedsyncd status --json`]
}

export function nextAction(upload: UploadReport, now: number): string | null {
  const action = actionOf(upload, now)
  if (!upload.overdue) return action
  const late = `its next version was expected ${relativeTime(upload.expectedBy, now)}: see whether its export still runs`
  return action === null ? late : `${action}; ${late}`
}

function actionOf(upload: UploadReport, now: number): string | null {
  const { hint, id, state } = upload
  switch (state) {
    case 'uploaded':
    case 'superseded':
    case 'discarded':
    case 'gone':
      return null
    case 'settling':
    case 'checking':
    case 'uploading':
      return 'nothing to do; it is being worked on'
    case 'queued':
      return [
        upload.nextAttemptAt === null
          ? 'delivered as soon as possible'
          : `tried again ${relativeTime(upload.nextAttemptAt, now)}`,
        hint,
      ]
        .filter((part) => part !== null)
        .join('; ')
    case 'incomplete':
      return `${hint ?? 'wait for its writer'}; rejected ${relativeTime(upload.deadlineAt, now)}`
    case 'held':
      return `${hint === null ? '' : `${hint}; `}feedsyncd release ${id}, or feedsyncd discard ${id}`
    case 'failed':
      return `${hint === null ? '' : `${hint}; then `}feedsyncd retry ${id}`
    case 'rejected':
      return hint ?? 'correct the export and drop the file again'
    default:
      return state satisfies never
  }
}

/** One line and an exit code as monitoring plugins give them: 0 ok, 1 warning, 2 critical, 3 unknown. */
export function statusCheck(report: StatusReport, now: number): { code: number; line: string } {
  const { daemon, service, uploads } = report
  const all = [...uploads, ...report.owed]
  const names = (states: string[]) => all.filter((upload) => states.includes(upload.state))
  const failed = names(['failed'])
  const waiting = names(['held', 'rejected', 'incomplete'])
  const critical = [
    ...(daemon.running ? [] : ['the daemon is not running']),
    ...(daemon.folderReason === null ? [] : [daemon.folderReason]),
    ...(service.state === 'credentials' || service.state === 'down'
      ? [`service ${service.state}: ${service.reason}`]
      : []),
    ...failed.map(({ feed, reason }) => `${feed} failed: ${reason}`),
  ]
  const warning = [
    ...(service.state === 'degraded' ? [`service degraded: ${service.reason}`] : []),
    ...waiting.map(({ feed, state, reason }) => `${feed} ${state}: ${reason}`),
    ...uploads
      .filter(({ overdue }) => overdue)
      .map(({ feed, expectedBy }) => `${feed} overdue: expected ${relativeTime(expectedBy, now)}`),
  ]
  const facts = `${uploads.length} feeds, folder listed ${relativeTime(daemon.lastScanAt, now)}`
  if (critical.length > 0) return { code: 2, line: printable(`CRITICAL - ${critical.join('; ')}`) }
  if (warning.length > 0) return { code: 1, line: printable(`WARNING - ${warning.join('; ')}`) }
  return { code: 0, line: `OK - ${facts}` }
}
