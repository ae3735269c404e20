// feedsyncd upload takes one file through the whole pipeline now. A running daemon gets the file, and the command
// follows it. Without a daemon the upload runs in this process, under the same lock.

import { lstatSync, openSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import type { Command } from 'commander'
import type { Attempted } from '../app/app.ts'
import { openForDecisions } from '../app/decisions.ts'
import { pathInInbox } from '../app/queries.ts'
import { rulesOf } from '../app/rules.ts'
import { type Config, historyFile } from '../config/config.ts'
import { type FeedRule, feedFor } from '../config/feeds.ts'
import { commandFor, hintWith } from '../domain/command.ts'
import { IN_MOTION } from '../domain/states.ts'
import { isLocked } from '../history/instance-lock.ts'
import type { History, Version } from '../history/port.ts'
import { openHistoryReader } from '../history/tables.ts'
import { READ_FLAGS } from '../lib/beneath.ts'
import { SECOND } from '../lib/clock.ts'
import { isSoon } from '../lib/due.ts'
import { errnoText, isMissing } from '../lib/errno.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { specialKind } from '../lib/files.ts'
import { hasPlaceholder } from '../lib/glob.ts'
import { limited } from '../lib/limited.ts'
import { formatProgress, type Progress } from '../lib/units.ts'
import { readDaemonFile } from '../ops/daemon-file.ts'
import type { CommandLine } from '../ops/port.ts'
import { uploadReports } from '../ops/upload-report.ts'
import { factsOf } from '../ops/version-report.ts'
import { type Context, errorPrinter, outJson } from '../terminal/context.ts'
import { type Call, define, usageError } from '../terminal/define.ts'
import { onSignals, type Signals } from '../terminal/signals.ts'
import { exitCodeOf, printEnd } from './version-end.ts'

interface Job {
  context: Context
  commandLine: CommandLine
  config: Config
  source: string
  /** The path as the history names it. */
  path: string
  rule: FeedRule
  /** The feed that the person named; null if the rules name it. */
  feed: string | null
  signals: Signals
}

type Upload = Call<{ feed?: string; new?: boolean }>

const FOLLOW_MS = SECOND / 5
const BAR_WIDTH = 30
/** How many feeds an error lists. */
const MOST_NAMES = 10

export function uploadCommand(context: Context): Command {
  const text = 'take one file through the whole pipeline now'
  return define<{ feed?: string; new?: boolean }>(
    context,
    'upload',
    text,
    async (call, file: string) => {
      const { commandLine, config, options } = call
      const source = resolve(file)
      refuseOtherThanFile(file, source)
      if (options.feed === '')
        throw usageError(
          'upload: the name of the feed is empty',
          'give a name to --feed, or leave --feed out',
        )
      const path = pathInInbox(config, source)
      const feed = chosenFeed(call, path)
      const rule = rulesOf(config)(path, feed)
      if (rule.account !== null && hasPlaceholder(rule.account))
        throw usageError(
          `upload: no rule gives a partner account for the name ${feed}`,
          'put the file into the folder of its account, or add a rule for this name with partnerAccount to "feeds:"',
        )
      using signals = onSignals({ ...context, drainMs: SECOND })
      const job = { context, commandLine, config, source, path, rule, feed, signals }
      const followed = await throughDaemon(job)
      const { version, isUnauthorized } = followed
        ? { version: followed, isUnauthorized: false }
        : await inThisProcess(job)
      using history = openHistoryReader({ file: historyFile(config) })
      const pauses = history?.pauses(context.clock.now())
      if (options.json)
        outJson(context, history === null ? {} : uploadReports(history, { pauses })(version))
      else if (history !== null)
        printEnd(context, factsOf(history, { pauses })(version), commandLine)
      if (signals.stop.aborted) return context.exit(signals.exitCode)
      context.exit(isUnauthorized ? EXIT.credentials : exitCodeOf(version))
    },
  )
    .argument('<file>', 'the file to upload')
    .option('--feed <name>', 'the feed of the file (default in the inbox: by the rules)')
    .option(
      '--new',
      'the feed that --feed names is new: the file is compared with no earlier version',
    )
}

/**
 * chosenFeed returns the feed that the person named, as the history names it; null if the rules name the feed. Throws
 * `FeedsyncError` (64) for a file outside the inbox without --feed, because it would be a new feed without guards, and
 * for an unknown feed without --new. The error suggests no feed, because a guess could replace another feed.
 */
function chosenFeed({ config, options }: Upload, path: string): string | null {
  const { feed: given = null, new: isNew = false } = options
  if (given === null && !isAbsolute(path)) return null
  using history = openHistoryReader({ file: historyFile(config) })
  const known = (history?.list({}).map(({ feed }) => feed) ?? []).toSorted()
  const names = known.length === 0 ? 'no feed is known yet' : limited(known, MOST_NAMES).join(', ')
  const hint = `name one of these with --feed, or a new one with --feed and --new: ${names}`
  if (given === null)
    throw usageError('upload: the file lies outside the inbox, so name its feed', hint)
  const { feed } = feedFor(path, config.feeds, given)
  const isKnown = history?.newest(feed) != null || config.feeds.some(({ name }) => name === feed)
  if (!isKnown && !isNew) throw usageError(`upload: no feed is named ${feed}`, hint)
  return feed
}

/** refuseOtherThanFile throws `FeedsyncError` (1 or 3) if the path is missing or names something else than a file. */
function refuseOtherThanFile(given: string, source: string): void {
  const failure = (why: string, hint: string, exitCode: number = EXIT.failed) =>
    new FeedsyncError(`upload ${given.slice(0, 200)}: ${why}`, { hint, exitCode })
  const refusal = (why: string, hint: string) => failure(why, hint, EXIT.notAllOk)
  try {
    const stats = lstatSync(source)
    if (stats.isDirectory())
      throw failure(
        'it is a directory',
        hintWith('name one file; to take those in the inbox', commandFor('run')),
      )
    if (stats.isSymbolicLink())
      throw refusal('it is a symbolic link, which is not followed', 'name the file itself')
    if (!stats.isFile())
      throw refusal(
        `it is not a regular file (${specialKind(stats)})`,
        'write its content to a regular file, and name that',
      )
  } catch (error) {
    if (error instanceof FeedsyncError) throw error
    const subject = { name: 'the file', setting: 'the path', use: 'read' } as const
    const { code, hint, reason } = errnoText(error, subject)
    // The pipeline opens the file again and reports all other errors.
    if (isMissing(code) || code === 'ENAMETOOLONG') throw failure(reason, hint)
  }
}

/** throughDaemon passes the file to the daemon and waits for its version; null if no daemon runs. */
async function throughDaemon(job: Job): Promise<Version | null> {
  const { config, context, feed, path, signals, source } = job
  const isRunning = () => isLocked(config.state.directory)
  if (!isRunning()) return null
  using history = openForDecisions(config, context.clock)
  const request = history.addRequest({ path, source, feed, at: context.clock.now() }).id
  context.err(`passed to the running daemon as request ${request}`)
  using bar = progressBar()
  for (;;) {
    const answer = history.request(request)
    if (answer?.reason)
      throw new FeedsyncError(`upload ${source}: ${answer.reason}`, { hint: 'run it again' })
    const version = answer?.versionId ? history.version(answer.versionId) : null
    const isInWork = (one: Version) =>
      IN_MOTION.includes(one.state) || isNext(history, one, context.clock.now())
    if (version !== null && !isInWork(version)) return version
    if (signals.stop.aborted) {
      if (version !== null) return version
      throw new FeedsyncError(`upload ${source}: the command stopped before the daemon answered`, {
        hint: hintWith(null, commandFor('status')),
      })
    }
    if (!isRunning())
      throw new FeedsyncError(`upload ${source}: the daemon has stopped`, {
        hint: hintWith(
          'start the daemon, which then takes the file; to see the result',
          commandFor('status'),
        ),
        exitCode: EXIT.temporary,
      })
    if (version !== null)
      bar.show(version, readDaemonFile(config.state.directory, context.env)?.uploads)
    await context.clock.sleep(FOLLOW_MS, signals.stop)
  }
}

/**
 * inThisProcess checks and delivers the file without a daemon. `isUnauthorized` is true if the service rejected the
 * credentials. Throws `FeedsyncError` if the file became no version.
 */
async function inThisProcess(job: Job) {
  const { commandLine, config, context, path, rule, signals, source } = job
  const { clock, env } = context
  const { openApp } = await import('../app/app.ts')
  const opened = isAbsolute(path) ? openAsRoot(source) : undefined
  await using app = await openApp(
    { ...config, log: { ...config.log, level: 'silent' } },
    { clock, env, notifyOperator: errorPrinter(context, commandLine) },
  )
  const candidate = { path, identity: null, rule, final: true, opened }
  const taken = await app.pipeline.take(candidate, signals.abort)
  if (taken.kind !== 'version' && taken.kind !== 'seen') {
    throw new FeedsyncError(`upload ${source}: ${taken.reason}`, {
      hint: taken.kind === 'again' ? 'run it again' : taken.hint,
      exitCode: taken.kind === 'skipped' ? EXIT.notAllOk : EXIT.temporary,
    })
  }
  let attempted: Attempted = { version: taken.version, failure: null }
  using bar = progressBar()
  while (isNext(app.history, attempted.version, clock.now()) && !signals.stop.aborted) {
    const waitMs = (attempted.version.nextAttemptAt ?? 0) - clock.now()
    if (waitMs > 0) await clock.sleep(waitMs, signals.stop)
    const running = app.attempts.run(attempted.version, signals.stop)
    while ((await Promise.race([running, clock.sleep(FOLLOW_MS)])) === undefined)
      bar.show(taken.version, app.uploads.current())
    attempted = await running
  }
  const { failure, version } = attempted
  return { version, isUnauthorized: failure?.class === 'credentials' }
}

/** isNext returns whether a version is queued and not paused, and its next attempt is due within two seconds. */
function isNext(history: History, { feed, nextAttemptAt, state }: Version, now: number): boolean {
  const isPaused = history.pauses(now).of(feed) !== null
  return state === 'queued' && !isPaused && isSoon(nextAttemptAt, now)
}

/**
 * openAsRoot returns a descriptor of the file, open until the process ends; undefined if the process is not root or
 * cannot open the file. The owner of the state directory, as whom the process delivers the file, often cannot read it.
 */
function openAsRoot(source: string): number | undefined {
  if (process.geteuid?.() !== 0) return undefined
  try {
    return openSync(source, READ_FLAGS)
  } catch {
    // The pipeline opens the file again and reports the error.
    return undefined
  }
}

/** progressBar draws a bar in one line on stderr, if stderr is a terminal. */
function progressBar() {
  const { stderr } = process
  const draw = (text: string) => stderr.isTTY && stderr.write(`\r\u001b[K${text}`)
  return {
    show: ({ bytes, id }: Version, uploads: Readonly<Record<number, Progress>> = {}) => {
      const progress = uploads[id]
      if (progress === undefined || bytes === null) return
      const filled = Math.round((BAR_WIDTH * progress.bytesSent) / Math.max(1, bytes))
      const bar = '#'.repeat(filled).padEnd(BAR_WIDTH)
      draw(`[${bar}] ${formatProgress(progress, bytes)}`)
    },
    [Symbol.dispose]: () => draw(''),
  }
}
