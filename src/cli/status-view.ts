// Prints `status` for people: what is wrong and what to do, one line about the daemon, and a table of feeds.

import { commandFor } from '../domain/command.ts'
import { OPEN } from '../domain/states.ts'
import { limited } from '../lib/limited.ts'
import { printable } from '../lib/printable.ts'
import { countOf, formatProgress, relativeTime } from '../lib/units.ts'
import { onServiceText } from '../ops/advice.ts'
import { campaignLine } from '../ops/campaigns/summary-line.ts'
import type { CommandLine } from '../ops/port.ts'
import type { Problem } from '../ops/problem.ts'
import type { Severity } from '../ops/problem-kinds.ts'
import type { StatusReport } from '../ops/report.ts'
import type { UploadReport } from '../ops/upload-report.ts'
import { coloured, problemLines } from '../terminal/problem-view.ts'
import { middleCut, styled } from '../terminal/render.ts'
import { feedTable } from './feed-table.ts'

export interface View {
  now: number
  terminal: boolean
  /** Columns of the terminal; null if nothing is cut. */
  width: number | null
  commandLine: CommandLine
  /** Largest number of rows in the table. The problems cover all versions. */
  limit: number
  /** True if the person asked for some feeds only. */
  filtered?: boolean
  /** True if the person asked for a list, which has `limit` rows, the newest first. */
  listed?: boolean
}

/** Largest number of rows in the same state, on a terminal. */
const MOST_ALIKE = 20
/** Largest number of names in a line about several files. */
const MOST_NAMED = 3
const LONGEST_NAME = 48

export function statusText(report: StatusReport, view: View): string {
  const more = commandFor('status --json')
  const sections = [
    problemLines(report.problems, { ...view, more }).join('\n'),
    [health(report, view), ...summary(report)].join('\n'),
    feedRows(report, view),
    campaignLine(report.campaigns, view.now),
    [...ignored(report, view), ...datedFeeds(report)].join('\n'),
  ]
  return sections.filter((section) => section !== '').join('\n\n')
}

function health({ daemon, problems, service }: StatusReport, view: View): string {
  const { now } = view
  const worstOf = (kind: Problem['subject']['kind']) =>
    problems.find(({ severity, subject }) => subject.kind === kind && severity !== 'info')?.severity
  const listed =
    daemon.lastScanAt === null
      ? 'folder not listed yet'
      : `folder listed ${relativeTime(daemon.lastScanAt, now)} (${daemon.mode})`
  const running = daemon.running ? `daemon running (pid ${daemon.pid})` : 'daemon not running'
  const ofDaemon = worstOf('daemon')
  return [
    ofDaemon === undefined ? styled('green', running, view) : coloured(running, ofDaemon, view),
    listed,
    coloured(`service ${service.state}`, worstOf('service') ?? null, view),
  ].join('; ')
}

function summary({ uploads }: StatusReport): string[] {
  if (uploads.length < 2) return []
  const counts = new Map<string, number>()
  for (const { state } of uploads) counts.set(state, (counts.get(state) ?? 0) + 1)
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a)
  const parts = sorted.map(([state, n]) => `${countOf(n)} ${state}`)
  const late = uploads.filter(({ overdue }) => overdue).length
  return [[...parts, ...(late === 0 ? [] : [`${countOf(late)} overdue`])].join(', ')]
}

/** feedRows returns the table of feeds. Remarks about a version stand below its row. */
function feedRows(report: StatusReport, view: View): string {
  const { uploads } = report
  const { filtered = false, limit, listed = false, now, terminal, width } = view
  if (uploads.length === 0) return filtered ? 'nothing matches' : 'no feed has been seen yet'
  const severities = severitiesOf(report.problems)
  const severityOf = ({ id }: UploadReport) => severities.get(id) ?? null
  const groups = listed ? [uploads.slice(0, limit)] : groupByState(uploads, severityOf)
  const shown = groups.map((group) =>
    listed || !terminal ? group : shownRows(group, severityOf(group[0] as UploadReport)),
  )
  const rows = shown.flat()
  const [head = '', ...texts] = feedTable(rows, { now, width })
  const textOf = new Map(rows.map((upload, n) => [upload, texts[n] ?? '']))
  const lines = groups.flatMap((group, n) => {
    const shownOfGroup = shown[n] ?? []
    const left = group.length - shownOfGroup.length
    const more = `${countOf(left)}${shownOfGroup.length > 0 ? ' more' : ''} ${group[0]?.state}`
    return [
      ...shownOfGroup.flatMap((upload) => [
        coloured(textOf.get(upload) ?? '', severityOf(upload), view),
        ...remarks(upload, severityOf(upload), now),
      ]),
      ...(left > 0 ? [`${more} (--all lists them)`] : []),
    ]
  })
  const left = listed ? uploads.length - rows.length : 0
  const rest =
    left === 0 ? [] : [`${countOf(left)} more: --limit N shows them, --json has them all`]
  return [...(rows.length === 0 ? [] : [head]), ...lines, ...rest].join('\n')
}

/** severitiesOf returns the worst severity of each version, by its id. `problems` has the worst first. */
function severitiesOf(problems: readonly Problem[]): ReadonlyMap<number, Severity> {
  const found = new Map<number, Severity>()
  for (const { severity, version } of problems)
    if (version !== null && !found.has(version.id)) found.set(version.id, severity)
  return found
}

/** remarks returns the lines below a row. A problem's reason is left out, because the list of problems has it. */
function remarks(upload: UploadReport, severity: Severity | null, now: number): string[] {
  const { bytes, leftAt, maybeOnService, onService, progress, reason, state } = upload
  const told = severity === null ? reason : null
  const isUnsent = severity === 'warning' || state === 'discarded'
  return [
    ...(progress === null ? [] : [formatProgress(progress, bytes ?? 0)]),
    ...(leftAt === null ? [] : ['its file has left the folder']),
    ...(told === null ? [] : [told]),
    ...(isUnsent && (onService !== null || maybeOnService !== null)
      ? [`on the service: ${onServiceText(upload, now)}`]
      : []),
  ].map((text) => `    ${printable(text)}`)
}

const RANKS = ['critical', 'warning', 'info', null] as const

/** groupByState groups versions with the same severity and state, the worst first. */
function groupByState(
  uploads: readonly UploadReport[],
  severityOf: (upload: UploadReport) => Severity | null,
): UploadReport[][] {
  const rank = (upload: UploadReport) => RANKS.indexOf(severityOf(upload))
  const sorted = uploads.toSorted((a, b) => rank(a) - rank(b))
  return [...Map.groupBy(sorted, (upload) => `${rank(upload)} ${upload.state}`).values()]
}

/** shownRows returns no rows for a large group that needs nothing: the table shows its size instead. */
function shownRows(group: UploadReport[], severity: Severity | null): UploadReport[] {
  const isQuiet = severity === null && !OPEN.includes(group[0]?.state ?? 'uploaded')
  return isQuiet && group.length > MOST_ALIKE ? [] : group.slice(0, MOST_ALIKE)
}

/** ignored names files that inbox.include does not match, because a feed with a wrong name would never be sent. */
function ignored({ daemon }: StatusReport, { commandLine }: View): string[] {
  const { count, paths } = daemon.ignored
  const [first] = paths
  if (first === undefined) return []
  const names = paths.map((path) => middleCut(printable(path), LONGEST_NAME)).join(', ')
  const more = count > paths.length ? `, and ${countOf(count - paths.length)} more` : ''
  const what =
    count === 1 ? '1 file is ignored by name' : `${countOf(count)} files are ignored by name`
  return [
    `${what}: ${names}${more}`,
    `    ${commandLine(commandFor('show <what>', `path:${first}`))}`,
  ]
}

/** datedFeeds names the files of each feed whose file names differ only in a date. */
function datedFeeds({ uploads }: StatusReport): string[] {
  const feeds = new Map(uploads.map(({ feed, files }) => [feed, files]))
  const texts = [...feeds].flatMap(([feed, files]) => {
    if (files === null || files.count < 2) return []
    const shown = files.paths.slice(0, MOST_NAMED).map((path) => middleCut(path, LONGEST_NAME))
    const more = files.count - shown.length
    const names = [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
    return [printable(`${files.count} files are one feed, ${feed}: ${names}`)]
  })
  return limited(texts, MOST_NAMED, (more) => `and ${more} more feeds like this`)
}
