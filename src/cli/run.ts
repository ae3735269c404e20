// feedsyncd run: the daemon, or one pass of it. The first signal drains, a second one aborts.

import { Command } from 'commander'
import type { App, Reread } from '../app/app.ts'
import { findConfig } from '../config/load.ts'
import { SECOND } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import { unlessAborted } from '../lib/unless-aborted.ts'
import { commandLineAnywhere } from './command-line.ts'
import { ConfigProblems, type Context, readConfig, tellError } from './context.ts'
import { EXIT } from './exit-codes.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import { onSignals } from './signals.ts'

interface Options {
  config?: string
  once?: boolean
}

/** Together with the grace of a forced end, less than the 45 s that the unit allows for a stop. */
const DRAIN_MS = 30 * SECOND

export function runCommand(context: Context): Command {
  return new Command('run')
    .description('the daemon: watches the folder, checks, delivers')
    .option(
      '--once',
      'take and deliver what is there, reconcile, then exit: 0 nothing owed, 75 owed, 3 rejected or held; ' +
        'waits for files that are being written, up to inbox.incompleteAfter',
    )
    .action(async (_options, command: Command) => {
      const { config: flag, once = false } = command.optsWithGlobals<Options>()
      const config = readConfig(context, flag)
      const notifyOperator = (message: string, hint: string | null) =>
        tellError(context, message, hint)
      const { openApp } = await import('../app/app.ts')
      const { clock, env, log } = context
      const configFile = findConfig(flag, env)
      const commandLine = commandLineAnywhere(env, configFile)
      let opened: App | null = null
      using signals = onSignals({
        ...{ ...context, drainMs: DRAIN_MS },
        reload: () => opened?.reload(() => reread(context, flag)),
        beforeKill: () => opened?.daemon.drain.stuck(),
      })
      const opening = openApp(config, { clock, configFile, commandLine, env, log, notifyOperator })
      await using app = await unlessAborted(opening, signals.stop)
      // What was begun is as after a crash: the next start recovers.
      if (app === null) return signals.kill()
      opened = app
      await using _endpoint = once ? null : await app.serve()
      const halted = await app.daemon.run({ once, stop: signals.stop, abort: signals.abort })
      signals.done()
      if (halted !== null) return context.exit(halted.exitCode)
      if (signals.abort.aborted) return context.exit(signals.exitCode)
      context.exit(
        once ? onceExit(outcomeOf(app.history, app.refusal(), app.campaigns())) : EXIT.ok,
      )
    })
}

/** The file as it is now. Never throws: a mistake in it must not end a daemon that works. */
function reread(context: Context, flag: string | undefined): Reread {
  try {
    return { kind: 'ok', config: readConfig(context, flag) }
  } catch (error) {
    if (error instanceof ConfigProblems) return { kind: 'problems', lines: error.lines }
    return { kind: 'problems', lines: [messageOf(error)] }
  }
}

/** Rejected credentials have their own code: waiting does not help. */
function onceExit(outcome: Outcome): number {
  switch (outcome) {
    case 'nothing-owed':
      return EXIT.ok
    case 'credentials':
      return EXIT.credentials
    case 'owed':
      return EXIT.temporary
    case 'not-all-ok':
      return EXIT.notAllOk
    default:
      return outcome satisfies never
  }
}
