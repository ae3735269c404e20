// feedsyncd status: what the daemon knows, from the history alone, so that it works with the daemon down.

import { Command, InvalidArgumentError, Option } from 'commander'
import { openStatus } from '../app-tools.ts'
import { type ListFilter, STATES, type State } from '../history/port.ts'
import type { StatusReport } from '../history/report.ts'
import { SECOND } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import { parseDuration } from '../lib/units.ts'
import { type Context, outJson, readConfig } from './context.ts'
import { EXIT } from './exit-codes.ts'
import { statusCheck, statusText } from './status-view.ts'

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

const UNKNOWN = 3
const WATCH_MS = 2 * SECOND
/** Rows a person can take in; JSON has no limit of its own. */
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
        show(context, options, report(context, options, feed))
        if (options.watch) await context.clock.sleep(WATCH_MS)
      } while (options.watch)
      context.exit(EXIT.ok)
    })
}

function report(context: Context, options: Options, feed: string | undefined): StatusReport {
  const filter: ListFilter = {
    ...(feed !== undefined && { feed }),
    ...(options.state !== undefined && { states: [options.state] }),
    ...(options.since !== undefined && { since: context.clock.now() - options.since }),
    ...limitOf(options),
    all: options.all ?? false,
  }
  using status = openStatus(readConfig(context, options.config), context.clock)
  return status.report(filter)
}

function limitOf({ limit, json, check }: Options): Pick<ListFilter, 'limit'> {
  if (limit !== undefined) return { limit }
  return json || check ? {} : { limit: DEFAULT_LIMIT }
}

function show(context: Context, options: Options, model: StatusReport): void {
  const { clock, out, terminal } = context
  if (options.json) {
    outJson(context, model)
  } else {
    const clear = options.watch && terminal ? '\u001b[2J\u001b[H' : ''
    const width = terminal ? (process.stdout.columns ?? null) : null
    out(clear + statusText(model, { now: clock.now(), terminal, width }))
  }
}

function check(context: Context, options: Options, feed: string | undefined): void {
  try {
    const { code, line } = statusCheck(report(context, options, feed), context.clock.now())
    context.out(line)
    context.exit(code)
  } catch (error) {
    context.out(`UNKNOWN - ${messageOf(error)}`)
    context.exit(UNKNOWN)
  }
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
