// feedsyncd status prints the state of daemon and feeds. It reads the history, so it works without a daemon.

import { type Command, InvalidArgumentError, Option } from 'commander'
import { openStatus } from '../app/open-status.ts'
import { ConfigProblems } from '../config/problems.ts'
import { type ConditionCode, ConditionError } from '../domain/conditions.ts'
import { STATES, type State } from '../domain/states.ts'
import type { ListFilter } from '../history/port.ts'
import { SECOND } from '../lib/clock.ts'
import { EXIT, messageOf } from '../lib/errors.ts'
import { parseDuration } from '../lib/units.ts'
import { problemReport } from '../ops/problems.ts'
import type { Context } from '../terminal/context.ts'
import { type Call, define, numberOf, unknownName } from '../terminal/define.ts'
import { cutToHeight, fitted, heightOf, widthOf } from '../terminal/render.ts'
import { type Checked, lineOf, statusCheck } from './status-check.ts'
import { readStatusConfig } from './status-config.ts'
import { statusLive } from './status-live.ts'
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
  live?: boolean
}

const TEXT =
  'show the daemon, what is not sent yet, the newest version of each feed, and what to do next'
const CRITICAL = 2
const UNKNOWN = 3
/** Conditions of the history that only an operator can end. */
const NEEDS_OPERATOR: readonly ConditionCode[] = [
  'database-damaged',
  'database-lost',
  'state-failing',
  'state-full',
]
const WATCH_MS = 2 * SECOND
const CLEAR = '\u001b[2J\u001b[H'
/** Without --limit, a terminal shows at most this many rows, and JSON has all rows. */
const DEFAULT_LIMIT = 50

export function statusCommand(context: Context): Command {
  const { clock, terminal } = context
  return define<Options>(context, 'status', TEXT, async (call, feed?: string) => {
    const { commandLine, options, showWrapped } = call
    const { all = false, limit, since, state, watch } = options
    const filtered = feed !== undefined || since !== undefined || state !== undefined
    if (options.live) return live(call)
    if (options.check) return check(call, feed)
    do {
      const { broken, report, unknown } = readReport(call, feed)
      if (unknown !== null) throw unknown
      const json = { ...report, problems: report.problems.map(problemReport) }
      showWrapped(json, () => {
        const rows = limit ?? (terminal ? DEFAULT_LIMIT : Number.POSITIVE_INFINITY)
        const listed = filtered || all || limit !== undefined
        const text = statusText(report, {
          now: clock.now(),
          terminal,
          width: widthOf(context),
          commandLine,
          limit: rows,
          filtered,
          listed,
        })
        return watch && terminal
          ? CLEAR + cutToHeight(fitted(text, widthOf(context)), heightOf(context))
          : text
      })
      context.exit(broken ? EXIT.config : EXIT.ok)
      if (watch) await clock.sleep(WATCH_MS)
    } while (watch)
  })
    .argument('[feed]', 'show only this feed')
    .option('--all', 'show every version, not only the newest of each feed')
    .addOption(new Option('--state <state>', 'only versions in this state').choices([...STATES]))
    .option('--since <age>', 'only versions detected within this time, such as 24h', ageOf)
    .option('--limit <n>', 'at most this many rows', numberOf('expected a whole number above 0'))
    .option('--watch', 'refresh every 2 s until interrupted')
    .option('--check', 'one line for monitoring; exit 0 ok, 1 warning, 2 critical, 3 unknown')
    .option('--live', 'say whether the daemon is alive, for containers; exit 0 if it is, else 2')
}

/**
 * readReport reads the configuration and the history. With --watch it runs each time, because the configuration can
 * change meanwhile. `broken` is true if the configuration has mistakes. `unknown` is the error for a feed that never
 * existed, or null.
 */
function readReport({ commandLine, context, options }: Call<Options>, feed: string | undefined) {
  const { broken, config } = readStatusConfig(context, options.config)
  const filter: ListFilter = {
    ...(feed !== undefined && { feed }),
    ...(options.state !== undefined && { states: [options.state] }),
    ...(options.since !== undefined && { since: context.clock.now() - options.since }),
    // Only JSON limits the rows that are read: the text names all unfinished work, also outside of its table.
    ...(options.json && options.limit !== undefined && { limit: options.limit }),
    all: options.all ?? false,
  }
  const { clock, env } = context
  using status = openStatus(config, { clock, env, commandLine, found: broken })
  const report = status.report(filter)
  // Beside a broken file, `config` is a placeholder, which does not have the address of the service.
  if (broken !== null) report.service.baseUrl = ''
  const isNone = feed !== undefined && report.uploads.length === 0
  const feeds = isNone ? status.feeds() : []
  const unknown =
    isNone && !feeds.includes(feed)
      ? unknownName('feed', feed, { known: feeds, look: 'status <feed>' })
      : null
  return { report, unknown, broken: broken !== null }
}

function answer({ context, show }: Call<Options>, { code, line }: Checked): void {
  show({ code, line }, () => line)
  context.exit(code)
}

function live(call: Call<Options>): void {
  const { context, options } = call
  try {
    const { config } = readStatusConfig(context, options.config)
    answer(call, statusLive(config, context))
  } catch (error) {
    answer(call, { code: CRITICAL, line: lineOf('CRITICAL', [messageOf(error)]) })
  }
}

function check(call: Call<Options>, feed: string | undefined): void {
  const { context } = call
  try {
    const { report, unknown } = readReport(call, feed)
    const checked = statusCheck(report, context.clock.now())
    // A mistyped name must not be reported as OK.
    answer(call, unknown !== null && checked.code === 0 ? checkFailure(unknown) : checked)
  } catch (error) {
    answer(call, checkFailure(error))
  }
}

/** checkFailure answers critical for a broken configuration or history, and unknown for every other error. */
function checkFailure(error: unknown): Checked {
  const mistake = error instanceof ConfigProblems ? `: ${error.lines[0]}` : ''
  const isCritical =
    error instanceof ConfigProblems ||
    (error instanceof ConditionError && NEEDS_OPERATOR.includes(error.condition))
  const says = `${messageOf(error)}${mistake}`
  return isCritical
    ? { code: CRITICAL, line: lineOf('CRITICAL', [says]) }
    : { code: UNKNOWN, line: lineOf('UNKNOWN', [says]) }
}

function ageOf(text: string): number {
  const parsed = parseDuration(text)
  if (parsed === null) throw new InvalidArgumentError('expected an age such as 30m, 24h or 7d.')
  return parsed
}
