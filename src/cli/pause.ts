// feedsyncd pause stops the sending of all feeds or one feed. feedsyncd resume starts it again.

import { type Command, InvalidArgumentError } from 'commander'
import { openForDecisions } from '../app/decisions.ts'
import { commandFor } from '../domain/command.ts'
import { isLocked } from '../history/instance-lock.ts'
import type { History } from '../history/port.ts'
import { printable } from '../lib/printable.ts'
import { parseDuration } from '../lib/units.ts'
import { personName } from '../lib/user.ts'
import { pauseReports } from '../ops/report.ts'
import { pauseText } from '../ops/version-problems.ts'
import type { Context } from '../terminal/context.ts'
import { type Call, define, unknownName } from '../terminal/define.ts'
import { NO_DAEMON } from './version-wait.ts'

type Options = { for?: number }

export function pauseCommand(context: Context): Command {
  const text = 'start no new upload, of all feeds or of one feed, until resume'
  return define<Options>(context, 'pause', text, async (call, feed?: string) => {
    using history = openForDecisions(call.config, context.clock)
    refuseUnknown(call, history, feed)
    const since = context.clock.now()
    const until = call.options.for === undefined ? null : since + call.options.for
    history.pause({ feed: feed ?? null, since, until, by: personName(context.env) })
    printPauses(call, history)
  })
    .argument('[feed]', 'the feed, as status names it (default: all feeds)')
    .option('--for <time>', 'end the pause after this time, such as 2h', durationOf)
}

export function resumeCommand(context: Context): Command {
  const text = 'end the pause of one feed, or all pauses'
  return define<Options>(context, 'resume', text, async (call, feed?: string) => {
    using history = openForDecisions(call.config, context.clock)
    refuseUnknown(call, history, feed)
    history.resume(feed ?? null)
    printPauses(call, history)
    if (!call.options.json && !isLocked(call.config.state.directory)) context.err(NO_DAEMON)
  }).argument('[feed]', 'the feed, as status names it (default: end all pauses)')
}

function printPauses({ commandLine, context, show }: Call<Options>, history: History): void {
  const now = context.clock.now()
  const pauses = pauseReports(history.pauses(now))
  const { paused, pausedFeeds } = pauses
  const lines = [
    ...(paused === null
      ? []
      : [`nothing is sent: ${pauseText(paused, now)}`, `    ${commandLine(commandFor('resume'))}`]),
    ...pausedFeeds.flatMap(({ feed, ...pause }) => [
      `nothing of ${feed} is sent: ${pauseText(pause, now)}`,
      `    ${commandLine(commandFor('resume <feed>', feed))}`,
    ]),
  ]
  show(pauses, () => (lines.length === 0 ? 'nothing is paused' : lines.map(printable).join('\n')))
}

function refuseUnknown(
  { context }: Call<Options>,
  history: History,
  feed: string | undefined,
): void {
  // A feed that left the history can still have a pause.
  const { all } = history.pauses(context.clock.now())
  if (feed === undefined || history.newest(feed) !== null || all.some((one) => one.feed === feed))
    return
  const known = history.list({}).map((version) => version.feed)
  throw unknownName('feed', feed, { known })
}

function durationOf(text: string): number {
  const parsed = parseDuration(text)
  if (parsed === null || parsed === 0)
    throw new InvalidArgumentError('expected a time such as 30m or 2h.')
  return parsed
}
