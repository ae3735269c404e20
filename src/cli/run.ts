// feedsyncd run: the daemon, or one pass of it. The first signal drains, a second one aborts.

import { Command, Option } from 'commander'
import type { App } from '../app/app.ts'
import type { CampaignRun } from '../campaigns/port.ts'
import type { Config } from '../config/config.ts'
import { findConfig } from '../config/load.ts'
import { IN_WORK, NEEDS_PERSON } from '../history/states.ts'
import { SECOND, unlessAborted } from '../lib/clock.ts'
import { isInboxCondition } from '../lib/conditions.ts'
import { EXIT } from '../lib/errors.ts'
import { LOG_LEVELS } from '../lib/log.ts'
import { waitingCampaigns } from '../ops/campaign-conditions.ts'
import { commandLineAnywhere } from './command-line.ts'
import { type Context, errorPrinter, readConfig } from './context.ts'
import { onSignals } from './signals.ts'

interface Options {
  config?: string
  once?: boolean
  logLevel?: (typeof LOG_LEVELS)[number]
  verbose?: boolean
}

/** Together with the grace of a forced end, less than the 45 s that the unit allows for a stop. */
const DRAIN_MS = 30 * SECOND

export function runCommand(context: Context): Command {
  return new Command('run')
    .description('the daemon: watches the folder, checks, delivers')
    .option(
      '--once',
      'deliver what is there, look at the campaigns, then exit: 0 nothing owed, 75 owed, 3 a person is needed; ' +
        'waits for files that are being written, up to inbox.incompleteAfter',
    )
    .addOption(new Option('--log-level <level>', 'in place of log.level').choices([...LOG_LEVELS]))
    .option('-v, --verbose', 'the same as --log-level debug')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const { config: flag, once = false, verbose } = options
      const { logLevel = verbose === true ? 'debug' : undefined } = options
      const config = withLevel(readConfig(context, flag, 'followed'), logLevel)
      const { openApp } = await import('../app/app.ts')
      const { clock, env, log } = context
      const configFile = findConfig(flag, env)
      const commandLine = commandLineAnywhere(env, configFile)
      const notifyOperator = errorPrinter(context, commandLine)
      let opened: App | null = null
      using signals = onSignals({
        ...context,
        drainMs: DRAIN_MS,
        ignoresHangup: true,
        beforeKill: () => opened?.daemon.stuck(),
      })
      const opening = openApp(config, {
        clock,
        commandLine,
        env,
        log,
        notifyOperator,
        isDaemon: true,
      })
      await using app = await unlessAborted(opening, signals.stop)
      // What was begun is as after a crash: the next start recovers.
      if (app === null) return signals.kill()
      opened = app
      await using _endpoint = once ? null : await app.serve()
      const halted = await app.daemon.run({ once, stop: signals.stop, abort: signals.abort })
      signals.done()
      if (halted !== null) return context.exit(halted.exitCode)
      if (signals.abort.aborted) return context.exit(signals.exitCode)
      if (once) context.exit(exitCodeOfPass(app, clock.now()))
    })
}

function withLevel(config: Config, level = config.log.level): Config {
  return { ...config, log: { ...config.log, level } }
}

/**
 * The exit code of one pass, by the newest version of each feed. Pending work counts first; a folder that cannot be
 * listed may hold some, and campaigns may wait while all feeds are paused. Rejected credentials have their own code: waiting does not help.
 */
function exitCodeOfPass(
  { conditions, history, refusal, campaigns, skipped }: App,
  now: number,
): number {
  const ofCampaigns = exitCodeOfCampaigns(campaigns())
  if (refusal() !== null) return EXIT.credentials
  if (conditions.current().some(({ code }) => isInboxCondition(code))) return EXIT.temporary
  if (history.pauses(now).all.some(({ feed }) => feed === null)) return EXIT.temporary
  if (history.list({ states: IN_WORK, all: true, limit: 1 }).length > 0) return EXIT.temporary
  if (ofCampaigns !== EXIT.ok && ofCampaigns !== EXIT.notAllOk) return ofCampaigns
  const needsPerson = history.list({ states: NEEDS_PERSON, limit: 1 }).length > 0
  return needsPerson || !skipped.isEmpty ? EXIT.notAllOk : ofCampaigns
}

function exitCodeOfCampaigns(run: CampaignRun | null): number {
  if (run?.state === 'credentials') return EXIT.credentials
  if (run?.state === 'failed' || run?.state === 'busy') return EXIT.temporary
  return waitingCampaigns(run) === 0 ? EXIT.ok : EXIT.notAllOk
}
