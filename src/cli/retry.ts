// feedsyncd retry: tries a version again now. A running daemon does so at once, also while the service counts as
// down, and the result is printed.

import { Command } from 'commander'
import { type Decisions, openDecisions } from '../app/decisions.ts'
import type { Version } from '../history/port.ts'
import { uploadReport } from '../history/report.ts'
import { SECOND } from '../lib/clock.ts'
import { FeedsyncError } from '../lib/errors.ts'
import { versionId } from './arguments.ts'
import { commandLineHere } from './command-line.ts'
import { type Context, outJson, readConfig } from './context.ts'
import { NO_DAEMON, versionOf } from './decide.ts'
import { EXIT } from './exit-codes.ts'
import { printable } from './render.ts'
import { printEnd } from './version-end.ts'

interface Options {
  config?: string
  all?: boolean
  json?: boolean
}

const LOOK_MS = SECOND / 5
/** A large upload takes longer: `show` follows it. */
const LONGEST_MS = 30 * SECOND

export function retryCommand(context: Context): Command {
  return new Command('retry')
    .description('try a failed or waiting version again now, and print the result')
    .argument('[id]', 'the id that status prints', versionId)
    .option('--all', 'every version that failed or waits')
    .option('--json', 'the version, as in status --json')
    .action(async (id: number | undefined, _options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      if ((id === undefined) === !options.all) {
        throw new FeedsyncError('retry: name one id, or --all', { exitCode: EXIT.usage })
      }
      using decisions = openDecisions(readConfig(context, options.config), context.clock)
      const ids = id === undefined ? decisions.retriable() : [id]
      const retried = ids.map((each) => versionOf(decisions.decide(each, 'retry')))
      if (decisions.daemonRuns) await settled(context, decisions, ids)
      const versions = retried.map((version) => decisions.version(version.id) ?? version)
      if (options.json) {
        const reports = versions.map((version) => uploadReport(version))
        outJson(context, id === undefined ? { uploads: reports } : (reports[0] ?? {}))
      } else tell(context, versions, decisions.daemonRuns, options.config)
    })
}

/** Waits until each was tried, or one has shown that the service is still down. */
async function settled(context: Context, decisions: Decisions, ids: readonly number[]) {
  const { clock } = context
  const until = clock.monotonic() + LONGEST_MS
  while (clock.monotonic() < until) {
    const versions = ids.flatMap((id) => decisions.version(id) ?? [])
    const tried = versions.filter(wasTried)
    if (tried.length === versions.length) return
    const hasFailed = tried.some(({ state }) => state === 'queued')
    if (hasFailed && decisions.serviceState() === 'down') return
    await clock.sleep(LOOK_MS)
  }
}

/** The decision itself queues a version without a time; a failed attempt sets one. */
function wasTried({ nextAttemptAt, state }: Version): boolean {
  if (state === 'queued') return nextAttemptAt !== null
  return state !== 'uploading' && state !== 'settling' && state !== 'checking'
}

function tell(
  context: Context,
  versions: readonly Version[],
  daemonRuns: boolean,
  config: string | undefined,
): void {
  const commandLine = commandLineHere(context.env, config)
  for (const version of versions) {
    if (daemonRuns) printEnd(context, version, commandLine)
    else context.out(printable(`version ${version.id} of ${version.feed} is ${version.state}`))
  }
  if (versions.length === 0) context.out('no version has failed, and none is waiting')
  else if (!daemonRuns) context.err(NO_DAEMON)
}
