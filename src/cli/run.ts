// feedsyncd run starts the daemon, or one pass of it. The first signal lets running work end; the second aborts it.

import { Command, Option } from 'commander'
import type { App } from '../app/app.ts'
import type { Config } from '../config/config.ts'
import { findConfig } from '../config/load.ts'
import { SECOND, unlessAborted } from '../lib/clock.ts'
import { LOG_LEVELS } from '../lib/log.ts'
import { exitOf } from '../ops/problems.ts'
import { commandLineAnywhere } from '../terminal/command-line.ts'
import { type Context, errorPrinter, readConfig } from '../terminal/context.ts'
import { onSignals } from '../terminal/signals.ts'

interface Options {
  config?: string
  once?: boolean
  logLevel?: (typeof LOG_LEVELS)[number]
  verbose?: boolean
}

/** Time for a drain. With the grace time in signals.ts it stays below the 45 s that the unit allows for a stop. */
const DRAIN_MS = 30 * SECOND

export function runCommand(context: Context): Command {
  return new Command('run')
    .description('run the daemon: it watches the folder, checks each feed and delivers it')
    .option(
      '--once',
      'deliver the feeds in the folder, look at the campaigns, then exit: 0 nothing waits, 75 something still waits, ' +
        '3 a person must decide, 4 credentials; a file that is being written is awaited for at most inbox.incompleteAfter',
    )
    .addOption(new Option('--log-level <level>', 'default: log.level').choices([...LOG_LEVELS]))
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
        beforeKill: () => opened?.daemon.reportStuck(),
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
      // A signal came before the daemon was built. The next start recovers unfinished work, as after a crash.
      if (app === null) return signals.kill()
      opened = app
      await using _endpoint = once ? null : await app.serve()
      const halted = await app.daemon.run({ once, stop: signals.stop, abort: signals.abort })
      signals.done()
      if (halted !== null) return context.exit(halted.exitCode)
      if (signals.abort.aborted) return context.exit(signals.exitCode)
      if (once) context.exit(exitOf(app.problems()))
    })
}

function withLevel(config: Config, level = config.log.level): Config {
  return { ...config, log: { ...config.log, level } }
}
