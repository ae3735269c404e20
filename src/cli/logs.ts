// feedsyncd logs prints the log for people, whole or about one feed. It reads the journal, or a file or stdin on a host
// without a journal, such as a container.

import { spawn } from 'node:child_process'
import { createReadStream, existsSync, lstatSync, readlinkSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Command } from 'commander'
import { openStatus } from '../app/open-status.ts'
import { findConfig } from '../config/load.ts'
import { unitOf } from '../config/unit.ts'
import { commandFor, hintWith } from '../domain/command.ts'
import { errnoText } from '../lib/errno.ts'
import { errorCode, FeedsyncError } from '../lib/errors.ts'
import { readableLine } from '../lib/log.ts'
import { feedWord, printable } from '../lib/printable.ts'
import { parseDuration } from '../lib/units.ts'
import { readDaemonFile } from '../ops/daemon-file.ts'
import { commandLineHere } from '../terminal/command-line.ts'
import type { Context } from '../terminal/context.ts'
import { unknownName, usageError } from '../terminal/define.ts'
import { fitted, widthOf } from '../terminal/render.ts'
import { readStatusConfig } from './status-config.ts'

interface Options {
  config?: string
  follow?: boolean
  since?: string
  file?: string
}

export function logsCommand(context: Context): Command {
  return new Command('logs')
    .description('print the log in plain lines, whole or about one feed')
    .argument('[feed]', 'a feed, a path in the inbox, or the id of a version')
    .option('-f, --follow', 'wait for new lines until interrupted')
    .option(
      '--since <time>',
      'only lines since this time, such as today or "1 hour ago"; for a file: an age',
    )
    .option(
      '--file <file>',
      'read this file, or - for stdin (default: the journal, or the log of a trial)',
    )
    .action(async (feed: string | undefined, _options, command: Command) => {
      const asked = command.optsWithGlobals<Options>()
      const own = asked.file === undefined ? ownLogFile(context, asked.config) : null
      const options = own === null ? asked : { ...asked, file: own }
      const elsewhere = options.file === undefined ? logElsewhere(context, options.config) : null
      if (elsewhere !== null) printNotice(context, elsewhere)
      const since = options.file === undefined ? null : sinceTime(context, options.since)
      const source = openSource(options, context.env)
      const count = await printLines(context, source, {
        file: options.file,
        shown: (line) => shownLine(line, feed, since),
      })
      if (count > 0) return
      if (feed !== undefined) await reportNoLines(context, options, feed)
      else if (options.since !== undefined) printNotice(context, nothingSince(options.since))
      else if (elsewhere === null) printNotice(context, NOTHING)
    })
}

/**
 * printLines prints each line of a source for which `shown` returns a text, and returns their number. Throws
 * `FeedsyncError` (1) if the source cannot be read.
 */
async function printLines(
  context: Context,
  { ended, input }: Source,
  { file, shown }: { file: string | undefined; shown: (line: string) => string | null },
): Promise<number> {
  let count = 0
  try {
    for await (const line of createInterface(input)) {
      const text = shown(line)
      if (text === null) continue
      context.out(fitted(text, widthOf(context)))
      count += 1
    }
  } catch (error) {
    throw unreadable(error, file)
  }
  const code = await ended
  if (code) {
    const hint = 'read its message above; root and the group systemd-journal may read the journal'
    throw new FeedsyncError(`logs: journalctl ended with ${code}`, { hint })
  }
  return count
}

const FROM_DOCKER = 'docker logs feedsyncd | feedsyncd logs --file -'
const NOTHING = {
  says: 'the log is empty',
  hint: `find out where the daemon logs: systemctl status feedsyncd; in a container: ${FROM_DOCKER}`,
}

const nothingSince = (since: string): typeof NOTHING => {
  return { says: `the log has no line since ${since}`, hint: hintWith(null, commandFor('logs')) }
}

/** ownLogFile returns the log file of a daemon that has its own, such as the daemon of `demo --stay`; else null. */
function ownLogFile(context: Context, flag: string | undefined): string | null {
  try {
    const { config } = readStatusConfig(context, flag)
    const file = readDaemonFile(config.state.directory, context.env)?.logFile ?? null
    return file !== null && existsSync(file) ? file : null
  } catch {
    return null
  }
}

const AGO = /^(\d+) ?(s|m|h|d)\w*(?: ago)?$/

/**
 * sinceTime returns the wall ms that `--since` means for a file; null without `--since`. Throws `FeedsyncError` (64) if
 * it is not an age such as 10m or "2 hours ago".
 */
function sinceTime({ clock }: Context, since: string | undefined): number | null {
  if (since === undefined) return null
  const [, count = '', unit = ''] = AGO.exec(since) ?? []
  const age = parseDuration(count + unit)
  if (age === null)
    throw usageError(
      'logs: to read a file, --since must be an age',
      'write an age such as 10m or "2 hours ago"',
    )
  return clock.now() - age
}

function printNotice(context: Context, { hint, says }: typeof NOTHING): void {
  context.err(printable(says))
  context.err(`try: ${printable(hint)}`)
}

/** logElsewhere returns a notice if a daemon runs and is seen to log to another place than the journal; else null. */
function logElsewhere(context: Context, flag: string | undefined): typeof NOTHING | null {
  try {
    const { config } = readStatusConfig(context, flag)
    const state = readDaemonFile(config.state.directory, context.env)
    if (!state?.alive) return null
    const place = readlinkSync(`/proc/${state.pid}/fd/1`)
    if (place.startsWith('socket:')) return null
    const isFile = place.startsWith('/') && lstatSync(place).isFile()
    const says = `the daemon (pid ${state.pid}) writes its log to ${place}, not to the journal`
    const next = isFile
      ? hintWith(null, commandFor('logs --file <file>', place))
      : `look there, or pipe the log, such as: ${FROM_DOCKER}`
    return { says, hint: next }
  } catch {
    return null
  }
}

/** reportNoLines says that the log has no line about a feed. Throws `FeedsyncError` (64) if the name does not exist. */
async function reportNoLines(context: Context, { config: flag, file }: Options, name: string) {
  const commandLine = commandLineHere(context.env, flag)
  const { config } = readStatusConfig(context, flag)
  const { clock, env } = context
  using status = openStatus(config, { clock, env, commandLine })
  const isVersion = /^\d+$/.test(name) && status.show(Number(name)) !== null
  const feeds = status.feeds()
  if (!isVersion && !feeds.includes(name) && (await status.path(name)) === null)
    throw unknownName('feed', name, { known: feeds, look: 'logs <feed>' })
  const next = commandLine(commandFor('show <what>', isVersion ? name : feedWord(name)))
  printNotice(context, { says: `${file ?? 'the journal'} has no line about ${name}`, hint: next })
}

/** Source is a stream of log lines. */
interface Source {
  input: NodeJS.ReadableStream
  /** Resolves to the exit code of the program that writes the lines; null if a signal ended it. */
  ended?: Promise<number | null>
}

/** openSource opens the file or starts journalctl. Throws `FeedsyncError` (64) if the file does not exist. */
function openSource(
  { config, file, follow = false, since }: Options,
  env: NodeJS.ProcessEnv,
): Source {
  if (file === '-') return { input: process.stdin }
  if (file !== undefined) {
    if (existsSync(file)) return { input: createReadStream(file) }
    throw usageError(`logs: there is no file ${file}`, 'check the path')
  }
  const unit = unitOf(findConfig(config, env))
  const args = ['-u', unit, '-o', 'cat', '--no-pager', ...(follow ? ['-f'] : [])]
  const all = since === undefined ? args : [...args, '--since', since]
  const child = spawn('journalctl', all, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  child.on('error', (error) => child.stdout.destroy(noJournal(error)))
  return { input: child.stdout, ended }
}

function unreadable(error: unknown, file: string | undefined): unknown {
  if (file === undefined || errorCode(error) === null) return error
  const subject = { name: `logs: ${file}`, setting: '--file', use: 'read' } as const
  const { hint, reason } = errnoText(error, subject)
  return new FeedsyncError(reason, { hint, cause: error })
}

function noJournal(error: Error): Error {
  if (errorCode(error) !== 'ENOENT') return error
  return new FeedsyncError('this host has no journalctl', {
    hint: `pipe the log, such as: ${FROM_DOCKER}`,
  })
}

/** The line that journalctl prints if the journal is empty. */
const NO_ENTRIES = '-- No entries --'

/**
 * shownLine returns a line as people read it; null if it is older than `since` (wall ms) or about another feed. A line
 * that is not JSON, such as systemd's, names no feed.
 */
function shownLine(line: string, feed: string | undefined, since: number | null): string | null {
  const fields = fieldsOf(line)
  if (since !== null && fields !== null && timeOf(fields) < since) return null
  if (fields === null) return feed === undefined && line !== NO_ENTRIES ? printable(line) : null
  const about = [fields.feed, fields.path, fields.id].map(String)
  return feed === undefined || about.includes(feed) ? readableLine(fields) : null
}

/** timeOf returns the wall ms of a line; infinity for a line without a time, so that it is always shown. */
function timeOf({ time }: Record<string, unknown>): number {
  const at = typeof time === 'number' ? time : Date.parse(String(time))
  return Number.isNaN(at) ? Number.POSITIVE_INFINITY : at
}

function fieldsOf(line: string): Record<string, unknown> | null {
  try {
    const fields: unknown = JSON.parse(line)
    return typeof fields === 'object' ? (fields as Record<string, unknown> | null) : null
  } catch {
    return null
  }
}
