// Prints `status` for people: one line about the daemon, a table with problems first, and what to do next.

import { unitOf } from '../config/unit.ts'
import { OPEN } from '../history/states.ts'
import { conditionText } from '../lib/conditions.ts'
import { isRecent } from '../lib/due.ts'
import { limited } from '../lib/limited.ts'
import { formatBytes, formatDuration, formatProgress, relativeTime } from '../lib/units.ts'
import { needsPerson, nextStep, onServiceText, pauseLines } from '../ops/advice.ts'
import type { CommandLine } from '../ops/port.ts'
import type { StatusReport, UploadReport } from '../ops/report.ts'
import { campaignLines } from './campaigns/status-view.ts'
import { middleCut, printable, styled, table } from './render.ts'

export interface View {
  now: number
  terminal: boolean
  /** Columns of the terminal; null if nothing is cut. */
  width: number | null
  commandLine: CommandLine
  /** Largest age of a listing of the folder, in ms. An older listing is a problem. */
  staleAfterMs: number
  /** Largest number of rows in the table. The next actions cover all versions. */
  limit: number
  /** True if the person asked for some feeds only. */
  filtered?: boolean
  /** True if the person asked for a list: all rows, newest first. */
  listed?: boolean
}

/** Largest number of next actions and skipped paths. `--json` has them all. */
const MOST_ACTIONS = 50
/** Largest number of rows with the same state and reason, on a terminal. */
const MOST_ALIKE = 20
/** Largest number of names in a line that is the same for several feeds. */
const MOST_NAMED = 3
const LONGEST_NAME = 48

export function statusText(report: StatusReport, view: View): string {
  const sections = [
    [...conditionLines(report, view), ...pauses(report, view)].join('\n'),
    [health(report, view), ...summary(report)].join('\n'),
    feeds(report, view),
    campaignLines(report.campaigns ?? null, view).join('\n'),
    [
      ...troubles(report, view),
      ...skipped(report, view.now),
      ...unfinished(report, view.now),
      ...ignored(report, view),
      ...datedFeeds(report),
    ].join('\n'),
    nextActions(report, view).join('\n'),
  ]
  return sections.filter((section) => section !== '').join('\n\n')
}

/** staleness returns why the last listing is out of date; null if it is recent or no daemon runs. */
export function staleness(
  { daemon }: StatusReport,
  { now, staleAfterMs }: Pick<View, 'now' | 'staleAfterMs'>,
): string | null {
  const since = daemon.lastScanAt ?? daemon.startedAt
  if (!daemon.running || since === null) return null
  if (isRecent(Date.parse(since), now, staleAfterMs)) return null
  const ageMs = now - Date.parse(since)
  const age = formatDuration(Math.abs(ageMs))
  if (ageMs < 0)
    return `the last listing of the folder is dated ${age} ahead: the clock of this host is or was wrong`
  return daemon.lastScanAt === null
    ? `the daemon has run for ${age} and has not listed the folder yet`
    : `the folder was not listed for ${age}`
}

function conditionLines({ daemon }: StatusReport, { now, terminal }: View): string[] {
  return daemon.conditions.map((condition) => {
    const colour = condition.severity === 'critical' ? 'red' : 'yellow'
    const since = relativeTime(condition.since, now)
    const line = `${condition.severity}: ${printable(conditionText(condition))} (since ${since})`
    return styled(colour, line, terminal)
  })
}

/** pauses shows every pause, because the person who paused may have forgotten it. */
function pauses(report: StatusReport, { commandLine, now, terminal }: View): string[] {
  const lines = pauseLines(report, now, commandLine).map(
    ({ ends, says }) => `${styled('yellow', printable(says), terminal)}\n  ${ends}`,
  )
  return limited(lines, MOST_ALIKE, (more) => `${more} more feeds are paused`)
}

function health(report: StatusReport, view: View): string {
  const { now, terminal } = view
  const { daemon, service } = report
  const listed =
    daemon.lastScanAt === null
      ? 'folder not listed yet'
      : `folder listed ${relativeTime(daemon.lastScanAt, now)} (${daemon.mode})`
  const parts = [
    daemon.running
      ? styled('green', `daemon running (pid ${daemon.pid})`, terminal)
      : styled('yellow', 'daemon not running', terminal),
    staleness(report, view) === null ? listed : styled('red', listed, terminal),
    `service ${service.state}${service.reason === null ? '' : `: ${printable(service.reason)}`}`,
  ]
  return parts.join('; ')
}

function summary({ uploads }: StatusReport): string[] {
  if (uploads.length < 2) return []
  const counts = new Map<string, number>()
  for (const { state } of uploads) counts.set(state, (counts.get(state) ?? 0) + 1)
  const parts = [...counts].toSorted(([, a], [, b]) => b - a).map(([state, n]) => `${n} ${state}`)
  const late = uploads.filter(({ overdue }) => overdue).length
  return [[...parts, ...(late === 0 ? [] : [`${late} overdue`])].join(', ')]
}

/** feeds prints the table. Each reason appears once, below its rows. */
function feeds({ uploads }: StatusReport, view: View): string {
  const { filtered = false, limit, listed = false, now, terminal, width } = view
  if (uploads.length === 0) return filtered ? 'nothing matches' : 'no feed has been seen yet'
  const groups = listed ? groupNeighbours(uploads.slice(0, limit)) : groupByReason(uploads)
  const shown = groups.map((group) => (listed || !terminal ? group : shownRows(group)))
  const rows = shown
    .flat()
    .map((upload) => [
      upload.id,
      upload.feed,
      upload.overdue ? `${upload.state}, overdue` : upload.state,
      upload.postings,
      upload.bytes === null ? null : formatBytes(upload.bytes),
      upload.attempts,
      relativeTime(upload.uploadedAt ?? upload.detectedAt, now),
    ])
  const headers = ['id', 'feed', 'state', 'postings', 'size', 'attempts', 'when']
  const [head = '', ...texts] = table(headers, rows, width).split('\n')
  const lines = groups.flatMap((group, n) => {
    const few = shown[n] ?? []
    const left = group.length - few.length
    const state = group[0]?.state
    const remark = remarkOf(group[0])
    return [
      ...few.flatMap((upload) => [
        coloured(texts.shift() ?? '', upload, terminal),
        ...storedLines(upload, now),
      ]),
      ...(left > 0 ? [`${left}${few.length > 0 ? ' more' : ''} ${state} (--all lists them)`] : []),
      ...(remark === null || few.length === 0 ? [] : [`    ${printable(remark)}`]),
    ]
  })
  const more = listed ? uploads.length - shown.flat().length : 0
  const rest = more === 0 ? [] : [`${more} more: --limit N shows them, --json has them all`]
  return [...(rows.length === 0 ? [] : [head]), ...lines, ...rest].join('\n')
}

/** storedLines says what the service has of a feed while a person decides. */
function storedLines(upload: UploadReport, now: number): string[] {
  if (!needsPerson(upload) || upload.onService === null) return []
  return [`    on the service: ${onServiceText(upload.onService, now)}`]
}

/** coloured colours a line about a version that needs a person. */
export function coloured(
  line: string,
  upload: Pick<UploadReport, 'state' | 'reasonCode' | 'overdue'>,
  terminal: boolean,
): string {
  if (!needsPerson(upload)) return line
  const isOver = upload.state === 'rejected' || upload.state === 'failed'
  return styled(isOver ? 'red' : 'yellow', line, terminal)
}

/** remarkOf returns the text below a row. Rows with the same state and text share it. */
function remarkOf(upload: UploadReport | undefined): string | null {
  if (upload === undefined) return null
  const { bytes, leftAt, progress, reason } = upload
  if (progress !== null) return formatProgress(progress, bytes ?? 0)
  return leftAt === null ? reason : 'its file has left the folder'
}

const kindOf = (upload: UploadReport) =>
  `${urgency(upload)} ${upload.state} ${remarkOf(upload) ?? ''}`

/** groupByReason groups versions with the same state and reason. Problems come first. */
function groupByReason(uploads: readonly UploadReport[]): UploadReport[][] {
  const sorted = uploads.toSorted((a, b) => urgency(a) - urgency(b))
  return [...Map.groupBy(sorted, kindOf).values()]
}

/** groupNeighbours keeps the order and groups only neighbours with the same state and reason. */
function groupNeighbours(uploads: readonly UploadReport[]): UploadReport[][] {
  const found: UploadReport[][] = []
  for (const upload of uploads) {
    const last = found.at(-1)
    if (last?.[0] !== undefined && kindOf(last[0]) === kindOf(upload)) last.push(upload)
    else found.push([upload])
  }
  return found
}

/** shownRows returns no rows for a large group that needs nothing: the table shows its size instead. */
function shownRows(group: UploadReport[]): UploadReport[] {
  const isQuiet = group[0] !== undefined && urgency(group[0]) === QUIET
  return isQuiet && group.length > MOST_ALIKE ? [] : group.slice(0, MOST_ALIKE)
}

/** troubles returns the problems that concern all feeds, each with the next command. */
function troubles(report: StatusReport, view: View): string[] {
  const { daemon, service } = report
  const { commandLine } = view
  const stale = staleness(report, view)
  // A configuration that belongs to no unit means a daemon that systemd did not start.
  const run = commandLine('run')
  const [, file] = /^feedsyncd run --config (\S+)$/.exec(run) ?? []
  const unit = unitOf(file ?? '')
  const isUnit = run === 'feedsyncd run' || unit !== 'feedsyncd'
  const start = isUnit ? `systemctl start ${unit}` : run
  return [
    ...(daemon.running
      ? []
      : ['next: start the daemon; until then no feed is taken or sent', `  ${start}`]),
    ...(stale === null ? [] : [`next: ${stale}; its log says why`, `  journalctl -u ${unit} -e`]),
    ...(service.state === 'credentials' || service.state === 'down'
      ? [`next: nothing can be sent (service ${service.state})`, `  ${commandLine('doctor')}`]
      : []),
  ]
}

/** unfinished names files under a temporary name that their writer never renamed. */
function unfinished({ daemon }: StatusReport, now: number): string[] {
  return daemon.unfinished.map(
    ({ path, modifiedAt }) =>
      `unfinished: ${printable(path)}: last written ${relativeTime(modifiedAt, now)}; ` +
      'rename it if it is complete, else remove it',
  )
}

/** skipped names the skipped paths. Each reason appears once. */
function skipped({ skipped }: StatusReport, now: number): string[] {
  const groups = [...Map.groupBy(skipped, ({ hint, reason }) => `${reason}; ${hint}`)]
  const texts = groups.map(([why, [first, ...others]]) => {
    const names = limited(
      others.map(({ path }) => middleCut(printable(path), LONGEST_NAME)),
      MOST_NAMED,
    )
    const since = relativeTime(first?.since ?? null, now)
    const line = `skipped: ${printable(`${first?.path}: ${why}`)} (since ${since})`
    const more = `\n  the same for ${others.length} more: ${names.join(', ')}`
    return others.length === 0 ? line : line + more
  })
  return limited(texts, MOST_ACTIONS, (more) => `skipped: ${more} more: --json has them all`)
}

/** ignored names files that inbox.include does not match: the writer of a misnamed feed waits for it in vain. */
function ignored({ daemon }: StatusReport, { commandLine }: View): string[] {
  const { count, paths } = daemon.ignored
  if (count === 0) return []
  const names = paths.map((path) => middleCut(printable(path), LONGEST_NAME)).join(', ')
  const more = count > paths.length ? `, and ${count - paths.length} more` : ''
  const what = count === 1 ? '1 file is ignored by name' : `${count} files are ignored by name`
  return [`${what}: ${names}${more}`, `  ${commandLine('show PATH')} says why, and what to do`]
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

/** nextActions names each step once, with its feeds. Steps that need no person come last. */
function nextActions(report: StatusReport, { commandLine, now }: View): string[] {
  const steps = groupByReason([...report.uploads, ...report.owed])
    .flat()
    // A superseded version needs nothing; `show` says how to send it.
    .filter(({ state }) => state !== 'superseded')
    .flatMap((upload) => {
      const { says, commands } = nextStep(upload, now, commandLine)
      if (says.length + commands.length === 0) return []
      const told = says.length === 0 ? `it is ${upload.state}` : says.join('; ')
      const forAll = nextStep({ ...upload, id: 'ID' }, now, commandLine).commands
      return [{ name: `${upload.feed} (${upload.id})`, told, commands, forAll }]
    })
  const groups = [...Map.groupBy(steps, ({ told, forAll }) => `${told} ${forAll}`).values()]
  const actions = groups.map((group) => {
    const [{ commands = [], forAll = [], told = '' } = {}] = group
    const names = limited(
      group.map(({ name }) => name),
      MOST_NAMED,
    )
    const line = `next: ${printable(`${names.join(', ')}: ${told}`)}`
    const lines = (group.length === 1 ? commands : forAll).map((command) => `  ${command}`)
    return [line, ...lines].join('\n')
  })
  const rest = (more: number) => `next: ${more} more: ${commandLine('status --json')}`
  return limited(actions, MOST_ACTIONS, rest)
}

const QUIET = 3

/** urgency: 0 waits for a person, 1 waits for something else, 2 is in progress, 3 needs nothing. */
function urgency(upload: UploadReport): number {
  if (needsPerson(upload)) return 0
  if (upload.state === 'queued' || upload.state === 'incomplete') return 1
  return OPEN.includes(upload.state) ? 2 : QUIET
}
