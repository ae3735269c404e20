// feedsyncd status: the state of everything, from the history, so that it works without a daemon.

import { Command, InvalidArgumentError, Option } from 'commander'
import { openStatus } from '../app/queries.ts'
import type { Config } from '../config/config.ts'
import type { ListFilter } from '../history/port.ts'
import { conditionReport, type StatusReport } from '../history/report.ts'
import { STATES, type State } from '../history/states.ts'
import { MINUTE, SECOND } from '../lib/clock.ts'
import { FeedsyncError, messageOf } from '../lib/errors.ts'
import { parseDuration } from '../lib/units.ts'
import { commandLineHere } from './command-line.ts'
import { ConfigProblems, type Context, outJson } from './context.ts'
import { EXIT } from './exit-codes.ts'
import { printable, widthOf } from './render.ts'
import { statusCheck } from './status-check.ts'
import { readStatusConfig } from './status-config.ts'
import { statusText } from './status-view.ts'

interface Options {
  config?: string
  all?: boolean
  state?: State
  since?: number
  limit?: number
  json?: boolean
  watch?: boolean
  check?: boolean
}

const CRITICAL = 2
const UNKNOWN = 3
/** Conditions of a history that only an operator can end. */
const LASTING: unknown[] = ['database-damaged', 'database-lost', 'state-failing', 'state-full']
const WATCH_MS = 2 * SECOND
/** Rows on a terminal; JSON has no limit. */
const DEFAULT_LIMIT = 50

export function statusCommand(context: Context): Command {
  return new Command('status')
    .description(
      'daemon health, what is owed, the newest version of each feed, and what to do next',
    )
    .argument('[feed]', 'only this feed')
    .option('--all', 'every version, not only the newest of each feed')
    .addOption(new Option('--state <state>', 'only versions in this state').choices([...STATES]))
    .option('--since <age>', 'only what was detected since, such as 24h', ageOf)
    .option('--limit <n>', 'at most so many', countOf)
    .option('--json', 'the documented JSON')
    .option('--watch', 'again every 2 s, until interrupted')
    .option('--check', 'one line for monitoring; exit 0 ok, 1 warning, 2 critical, 3 unknown')
    .action(async (feed: string | undefined, _options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      if (options.check) return check(context, options, feed)
      do {
        const answer = ask(context, options, feed)
        show(context, options, answer)
        context.exit(answer.broken ? EXIT.config : EXIT.ok)
        if (options.watch) await context.clock.sleep(WATCH_MS)
      } while (options.watch)
    })
}

interface Answer {
  report: StatusReport
  filtered: boolean
  listed: boolean
  staleAfterMs: number
  /** The configuration file has mistakes. */
  broken: boolean
}

/** The file is read each time: with `--watch` it may change meanwhile. */
function ask(context: Context, options: Options, feed: string | undefined): Answer {
  const { broken, config } = readStatusConfig(context, options.config)
  const filter: ListFilter = {
    ...(feed !== undefined && { feed }),
    ...(options.state !== undefined && { states: [options.state] }),
    ...(options.since !== undefined && { since: context.clock.now() - options.since }),
    // The text names all pending work, however long the table is.
    ...(options.json && options.limit !== undefined && { limit: options.limit }),
    all: options.all ?? false,
  }
  using status = openStatus(config, context.clock, context.env)
  const filtered = [feed, options.state, options.since].some((part) => part !== undefined)
  const listed = filtered || options.all === true || options.limit !== undefined
  const report = status.report(filter)
  if (broken !== null) {
    report.daemon.conditions.unshift(conditionReport(broken))
    report.service.baseUrl = ''
  }
  return { report, filtered, listed, staleAfterMs: staleAfterMs(config), broken: broken !== null }
}

/** Several listings were missed: more than one slow listing. */
function staleAfterMs({ inbox }: Config): number {
  return Math.max(5 * MINUTE, 3 * inbox.rescanMs)
}

function show(
  context: Context,
  options: Options,
  { report, filtered, listed, staleAfterMs }: Answer,
): void {
  const { clock, env, out, terminal } = context
  if (options.json) {
    outJson(context, report)
  } else {
    const clear = options.watch && terminal ? '\u001b[2J\u001b[H' : ''
    const commandLine = commandLineHere(env, options.config)
    const limit = options.limit ?? (terminal ? DEFAULT_LIMIT : Number.POSITIVE_INFINITY)
    const width = widthOf(terminal)
    const view = {
      now: clock.now(),
      terminal,
      width,
      commandLine,
      staleAfterMs,
      limit,
      filtered,
      listed,
    }
    out(clear + statusText(report, view))
  }
}

function check(context: Context, options: Options, feed: string | undefined): void {
  try {
    const { report, staleAfterMs } = ask(context, options, feed)
    // The check of one feed leaves out the campaigns.
    const model = feed === undefined ? report : { ...report, campaigns: null }
    const { code, line } = statusCheck(model, { now: context.clock.now(), staleAfterMs })
    context.out(line)
    context.exit(code)
  } catch (error) {
    const { code, line } = unanswered(error)
    context.out(printable(line))
    context.exit(code)
  }
}

/** A broken configuration or history is critical; without permission to read them the state is unknown. */
function unanswered(error: unknown): { code: number; line: string } {
  const mistake = error instanceof ConfigProblems ? `: ${error.lines[0]}` : ''
  const isBad =
    error instanceof ConfigProblems ||
    (error instanceof FeedsyncError && LASTING.includes(error.condition))
  const line = `${messageOf(error)}${mistake}`
  return isBad
    ? { code: CRITICAL, line: `CRITICAL - ${line}` }
    : { code: UNKNOWN, line: `UNKNOWN - ${line}` }
}

function ageOf(text: string): number {
  const parsed = parseDuration(text)
  if (parsed === null) throw new InvalidArgumentError('expected an age such as 30m, 24h or 7d.')
  return parsed
}

function countOf(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('expected a whole number above 0.')
  return Number(text)
}
