// feedsyncd upload: one file through the whole pipeline, now. A running daemon gets the file and is followed;
// without one the upload runs here, under the same lock.

import { statSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { Command } from 'commander'
import { openDecisions } from '../app/decisions.ts'
import { pathInInbox } from '../app/queries.ts'
import type { Config } from '../config/config.ts'
import { feedFor } from '../config/feeds.ts'
import type { Version } from '../history/port.ts'
import { uploadReport } from '../history/report.ts'
import { IN_MOTION } from '../history/states.ts'
import { SECOND } from '../lib/clock.ts'
import { errorCode, FeedsyncError } from '../lib/errors.ts'
import { formatBytes } from '../lib/units.ts'
import { commandLineHere } from './command-line.ts'
import { type Context, outJson, readConfig, tellError } from './context.ts'
import { EXIT } from './exit-codes.ts'
import { onSignals, type Signals } from './signals.ts'
import { exitCodeOf, printEnd } from './version-end.ts'

interface Options {
  config?: string
  feed?: string
  json?: boolean
}

interface Ended {
  version: Version
  /** The service rejected the credentials. */
  isUnauthorized: boolean
}

const FOLLOW_MS = SECOND / 5

export function uploadCommand(context: Context): Command {
  return new Command('upload')
    .description('one file through the whole pipeline, now')
    .argument('<file>', 'the feed')
    .option('--feed <name>', 'the feed that it is a version of (else: by the rules)')
    .option('--json', 'the version, as in status --json')
    .action(async (file: string, _options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const config = readConfig(context, options.config)
      const source = resolve(file)
      refuseNoFile(file, source)
      if (options.feed === '')
        throw new FeedsyncError('upload: the name of the feed is empty', {
          hint: 'name it with --feed NAME, or leave --feed out',
          exitCode: EXIT.usage,
        })
      using signals = onSignals({ ...context, drainMs: SECOND })
      const { version, isUnauthorized } =
        (await throughDaemon(context, config, source, options.feed ?? null, signals)) ??
        (await inThisProcess(context, config, source, options.feed ?? null, signals))
      if (options.json) outJson(context, uploadReport(version))
      else printEnd(context, version, commandLineHere(context.env, options.config))
      if (signals.stop.aborted) return context.exit(signals.exitCode)
      context.exit(isUnauthorized ? EXIT.credentials : exitCodeOf(version.state))
    })
}

/** What can become no version of a feed: no name, no file. Everything else is judged when it is read. */
function refuseNoFile(given: string, source: string): void {
  const refuse = (why: string, hint: string) =>
    new FeedsyncError(`upload ${given.slice(0, 200)}: ${why}`, { hint })
  try {
    if (statSync(source).isDirectory())
      throw refuse('it is a directory', 'name one file; feedsyncd run takes those in the inbox')
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw refuse('there is no such file', 'check the path')
    if (code === 'ENAMETOOLONG') throw refuse('its name is too long', 'check the path')
    if (error instanceof FeedsyncError) throw error
  }
}

/** Null where no daemon runs. */
async function throughDaemon(
  context: Context,
  config: Config,
  source: string,
  feed: string | null,
  signals: Signals,
): Promise<Ended | null> {
  using decisions = openDecisions(config, context.clock)
  if (!decisions.daemonRuns) return null
  const request = decisions.request({ path: pathInInbox(config, source), source, feed })
  context.err(`passed to the running daemon as request ${request}`)
  for (;;) {
    const answer = decisions.answer(request)
    if (answer?.problem)
      throw new FeedsyncError(`upload ${source}: ${answer.problem}`, { hint: 'run it again' })
    const version = answer?.versionId ? decisions.version(answer.versionId) : null
    const waits = version?.state === 'queued' && version.reasonCode === null
    const moves = version === null || waits || IN_MOTION.includes(version.state)
    if (!moves) return { version, isUnauthorized: false }
    if (signals.stop.aborted) {
      if (version !== null) return { version, isUnauthorized: false }
      throw new FeedsyncError(`upload ${source}: stopped following it`, {
        hint: 'feedsyncd status',
      })
    }
    if (!decisions.daemonRuns)
      throw new FeedsyncError(`upload ${source}: the daemon has stopped`, {
        hint: 'start it: it takes the file then; feedsyncd status shows the result',
        exitCode: EXIT.temporary,
      })
    await context.clock.sleep(FOLLOW_MS, signals.stop)
  }
}

async function inThisProcess(
  context: Context,
  config: Config,
  source: string,
  feed: string | null,
  signals: Signals,
): Promise<Ended> {
  const progress = process.stderr.isTTY ? progressBar() : null
  const { openApp } = await import('../app/app.ts')
  await using app = await openApp(
    { ...config, log: { ...config.log, level: 'silent' } },
    {
      clock: context.clock,
      env: context.env,
      notifyOperator: (message, hint) => tellError(context, message, hint),
      ...(progress !== null && { onProgress: progress.show }),
    },
  )
  const path = pathInInbox(config, source)
  const rule = { ...feedFor(path, config.feeds), ...(feed !== null && { feed }) }
  const root = isAbsolute(path) ? undefined : config.inbox.directory
  const candidate = { path, source, root, identity: null, rule, final: true }
  const taken = await app.pipeline.take(candidate, signals.abort)
  if (taken.kind !== 'version' && taken.kind !== 'seen') {
    throw new FeedsyncError(`upload ${source}: ${taken.reason}`, {
      hint: 'run it again',
      exitCode: EXIT.temporary,
    })
  }
  const { id, state } = taken.version
  if (state !== 'queued') return { version: taken.version, isUnauthorized: false }
  const delivered = await app.pipeline.deliver(taken.version, signals.stop)
  progress?.end()
  return {
    version: app.history.version(id) ?? taken.version,
    isUnauthorized: delivered.kind === 'credentials',
  }
}

/** On stderr, redrawn in place. */
function progressBar(): { show: (sent: number, total: number) => void; end: () => void } {
  const WIDTH = 30
  return {
    show: (sent, total) => {
      const share = total === 0 ? 1 : Math.min(1, sent / total)
      const bar = '#'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH)
      process.stderr.write(`\r[${bar}] ${formatBytes(sent)} of ${formatBytes(total)}   `)
    },
    end: () => process.stderr.write('\n'),
  }
}
