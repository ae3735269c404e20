// feedsyncd show prints all facts about one version, feed or path. An argument of digits is an id, and any other
// argument is a feed or a path.

import { existsSync } from 'node:fs'
import { isAbsolute, normalize } from 'node:path'
import type { Command } from 'commander'
import { openStatus } from '../app/open-status.ts'
import { noVersion, pathInInbox } from '../app/queries.ts'
import type { Config } from '../config/config.ts'
import { commandFor, hintWith } from '../domain/command.ts'
import { OPEN } from '../domain/states.ts'
import { limited } from '../lib/limited.ts'
import { feedWord, printable } from '../lib/printable.ts'
import { countOf, formatBytes, formatDuration, formatProgress, relativeTime } from '../lib/units.ts'
import { clockText, nextSteps, onServiceText, stepText } from '../ops/advice.ts'
import { DIFFERENCE_KINDS } from '../ops/difference-text.ts'
import type { PathReport } from '../ops/path-report.ts'
import type { CommandLine } from '../ops/port.ts'
import type { Step } from '../ops/problem.ts'
import type { FeedReport, ShowReport, UploadReport } from '../ops/upload-report.ts'
import { severityOf } from '../ops/version-problems.ts'
import type { Context } from '../terminal/context.ts'
import { type Call, define, unknownName, usageError } from '../terminal/define.ts'
import { coloured, stepLine } from '../terminal/problem-view.ts'
import { factsText, proseTable, table, widthOf } from '../terminal/render.ts'
import { differenceText, postingTable } from './difference-view.ts'

const ATTEMPT = 'attempt,started,took,outcome,status,code,sent,key'.split(',')
/** Number of events, attempts, campaign ids and versions that are shown without --all. */
const MOST = 50

type Show = Call<{ all?: boolean }>
type Status = ReturnType<typeof openStatus>

export function showCommand(context: Context): Command {
  const text =
    'show one version in full, what the service has of a feed, or why a path is where it is'
  return define<{ all?: boolean }>(context, 'show', text, async (call, given: string) => {
    const { clock, env } = context
    using status = openStatus(call.config, { clock, env, commandLine: call.commandLine })
    const [, kind = null, name = given] = /^(feed|path):(.+)$/s.exec(given) ?? []
    if (kind === null && /^\d+$/.test(given)) return showVersion(call, status, Number(given))
    if (kind !== 'path' && (await showFeed(call, status, name))) return
    if (kind !== 'feed' && (await showPath(call, status, name))) return
    throw unknownName(kind ?? 'feed or file', name, { known: status.feeds(), look: 'show <what>' })
  })
    .argument(
      '<id|feed|path>',
      'an id that status prints, a feed or a path; feed:NAME and path:NAME say which',
    )
    .option('--all', 'show every event, attempt and version, not only the newest 50')
}

function showVersion(call: Show, status: Status, id: number) {
  const { context, options, showWrapped } = call
  const { all = false, json } = options
  const report = status.show(id, all || json ? undefined : MOST)
  if (report === null) {
    const isFeed = status.feeds().includes(String(id))
    const meant = isFeed
      ? commandFor('show <what>', feedWord(String(id)))
      : commandFor('status --all')
    throw usageError(noVersion(id, status.newestId()), hintWith(null, meant))
  }
  showWrapped(report, () => {
    const text = showText(report, call)
    const severity = severityOf(report)
    const colouredLines = /^(state|reason) .*$/gm
    return text.replace(colouredLines, (line) => coloured(line, severity, context))
  })
}

/** showFeed prints a feed and returns true; false if no feed has this name. */
async function showFeed(call: Show, status: Status, name: string): Promise<boolean> {
  const { all = false, json } = call.options
  const report = status.feed(name, all || json ? undefined : MOST + 1)
  // The last version to arrive is not always the newest, because dates in file names decide the order.
  const [newest = report?.uploads[0]] = status.report({ feed: name }).uploads
  if (report === null || newest === undefined) return false
  const path = json ? null : await status.path(newest.path)
  call.showWrapped(report, () => feedText({ report, newest, path }, call))
  return true
}

/** feedText shows what is on the service, then the newest file, other versions that wait, and a table of versions. */
function feedText(
  { report, newest, path }: { report: FeedReport; newest: UploadReport; path: PathReport | null },
  call: Show,
) {
  const { commandLine, context, options } = call
  const now = context.clock.now()
  const { feed, uploads } = report
  const others = uploads.filter((one) => one.id !== newest.id && OPEN.includes(one.state))
  const waiting = others.flatMap((one) => {
    const reason = one.reason === null ? '' : `: ${one.reason}`
    return sentenceAndSteps(
      { says: `version ${one.id} is ${one.state}${reason}`, upload: one, next: null },
      call,
    )
  })
  const shown = options.all ? uploads : uploads.slice(0, MOST)
  const rows = shown.map((one) => [
    one.id,
    one.state,
    one.postings === null ? null : countOf(one.postings),
    one.bytes === null ? null : formatBytes(one.bytes),
    one.attempts,
    relativeTime(one.uploadedAt ?? one.detectedAt, now),
  ])
  const headers = ['id', 'state', 'postings', 'size', 'attempts', 'when']
  const earlier = commandLine(commandFor('show <what> --all', `feed:${feed}`))
  return [
    `on the service: ${onServiceText(report, now)}`,
    ...(newest.overdue && newest.expectedBy !== null
      ? [coloured(`overdue: expected by ${clockText(newest.expectedBy, now)}`, 'warning', context)]
      : []),
    ...filesLines(newest.files),
    ...(path === null ? [] : pathLines(path, call)),
    ...waiting,
    '',
    table(headers, rows, widthOf(context)),
    ...(shown.length < uploads.length ? [`… and earlier ones: ${earlier}`] : []),
  ].join('\n')
}

/** filesLines names the files of one feed if their names differ only in a date. */
function filesLines(files: UploadReport['files']): string[] {
  if (files === null || files.count < 2) return []
  const more =
    files.count > files.paths.length ? `, and ${files.count - files.paths.length} more` : ''
  return [`${files.count} files are this feed: ${printable(files.paths.join(', '))}${more}`]
}

/** showPath prints what became of a path and returns true; false if nothing is known of the path. */
async function showPath(call: Show, status: Status, given: string): Promise<boolean> {
  const report = await status.path(pathOf(call.config, given))
  if (report === null) return false
  const next = report.next ?? nextOf(report.upload, call)
  call.showWrapped({ ...report, next }, () => pathLines(report, call).join('\n'))
  return true
}

function pathLines({ because, next, path, upload }: PathReport, call: Show): string[] {
  return sentenceAndSteps({ says: `${path}: ${because}`, upload, next }, call)
}

function nextOf(upload: UploadReport | null, call: Show): string | null {
  return upload && stepText(stepsOf(upload, call))
}

function stepsOf(upload: UploadReport, { commandLine, context }: Show): Step[] {
  return nextSteps(upload, { now: context.clock.now(), commandLine })
}

/** sentenceAndSteps returns a line for a sentence, and lines for `next` or, if it is null, the steps of the version. */
function sentenceAndSteps(
  { says, upload, next }: { says: string; upload: UploadReport | null; next: string | null },
  call: Show,
) {
  const text = printable(says)
  const line = upload === null ? text : coloured(text, severityOf(upload), call.context)
  if (next !== null) return [line, `next: ${printable(next)}`]
  return upload === null ? [line] : [line, ...stepsOf(upload, call).map(stepLine)]
}

/**
 * pathOf returns a path as the history names it. A relative path is a path in the inbox. It is relative to the current
 * folder only if it names an existing file of the inbox from there, or begins with `../`, as no path in the inbox does.
 */
function pathOf(config: Config, given: string): string {
  const path = pathInInbox(config, given)
  const isUpwards = normalize(given).startsWith('../')
  const isInInbox = existsSync(given) && !isAbsolute(path)
  return isAbsolute(given) || isUpwards || isInInbox ? path : given
}

function showText(report: ShowReport, { commandLine, context, options }: Show): string {
  const { all = false } = options
  const [now, width] = [context.clock.now(), widthOf(context)]
  const facts = factsOf(report, { now, commandLine, all })
  const lines = [factsText(facts.filter(([, value]) => value !== ''))]
  const earlier = (left: number) =>
    left === 0
      ? []
      : [
          `… and ${countOf(left)} earlier: ${commandLine(commandFor('show <what> --all', report.id))}`,
        ]
  const events = report.events.map(({ at, count, firstAt, from, to, reason }) => {
    const times = `${countOf(count ?? 1)} times since ${firstAt}`
    return [at, from, to, firstAt === undefined ? reason : `${reason}; ${times}`]
  })
  lines.push(...differenceLines(report, context))
  lines.push('', ...earlier(report.earlierEvents))
  lines.push(proseTable(['at', 'from', 'to', 'reason'], events, width))
  if (report.attempts.length > 0) {
    const attempts = report.attempts.map((attempt) => [
      attempt.n,
      attempt.startedAt,
      tookText(attempt),
      attempt.outcome,
      attempt.status,
      attempt.code,
      formatBytes(attempt.bytesSent),
      attempt.key,
    ])
    lines.push('', ...earlier(report.earlierAttempts), proseTable(ATTEMPT, attempts, width))
  }
  return lines.join('\n')
}

/** differenceLines shows what a held version changes, with the first postings of each kind; no lines if unknown. */
function differenceLines({ difference }: ShowReport, context: Context): string[] {
  const summary = difference?.summary ?? null
  if (summary === null) return []
  const tables = DIFFERENCE_KINDS.flatMap((kind) => {
    const rows = summary.named[kind]
    if (rows.length === 0) return []
    const isCut = rows.length < summary.totals[kind]
    const title = isCut ? `${kind}, the first ${rows.length}:` : `${kind}:`
    return ['', title, postingTable(kind, rows, context)]
  })
  const beside = `compared with version ${difference?.older}:`
  return ['', beside, differenceText(summary, context), ...tables]
}

function tookText({ endedAt, startedAt }: ShowReport['attempts'][number]): string | null {
  if (endedAt === null || startedAt === null) return null
  return formatDuration(Date.parse(endedAt) - Date.parse(startedAt))
}

/** nextFacts puts each step on its own line, so that people can copy a command. */
function nextFacts(steps: readonly Step[]): (readonly ['next' | '', string])[] {
  return steps.map((step, n) => [n === 0 ? 'next' : '', 'says' in step ? step.says : step.command])
}

function factsOf(
  report: ShowReport,
  { all, commandLine, now }: { all: boolean; commandLine: CommandLine; now: number },
) {
  const { bytes, changes, etagVerified, externalCampaignIds: campaigns, progress } = report
  const ids = Object.entries(campaigns ?? {}).map(([id, n]) => `${id} (${countOf(n)})`)
  const most = all ? ids.length : MOST
  const shown = limited(ids, most, (more) => `and ${more} more: --all`)
  const changed =
    changes &&
    `${countOf(changes.added)} added, ${countOf(changes.removed)} removed, ${countOf(changes.changed)} changed`
  return [
    ['feed', report.feed],
    ['path', report.path],
    ['account', report.account],
    ['state', report.state],
    ['sent', progress && formatProgress(progress, bytes ?? 0)],
    ['guard', report.guard],
    ['reason', report.reason],
    ...nextFacts(nextSteps(report, { now, commandLine })),
    ['postings', report.postings === null ? null : countOf(report.postings)],
    ['changes', changed],
    ['records', report.records],
    ['campaigns', shown.join(', ')],
    ['requisitions', report.requisitionIds ? countOf(report.requisitionIds) : null],
    ['warnings', report.warnings.join('; ')],
    ['size', bytes === null ? null : `${formatBytes(bytes)} (${countOf(bytes)} bytes)`],
    ['encoding', report.encoding],
    ['sha256', report.sha256],
    ['file', report.fileUrl],
    ['etag', etagVerified === null ? null : etagVerified ? 'verified' : 'not verifiable'],
    ['detected', report.detectedAt],
    ['uploaded', report.uploadedAt],
    ['next attempt', report.nextAttemptAt],
  ] as const
}
