// feedsyncd retry: a person's word that it is worth trying now. With a daemon running it is tried at once, also
// while the service counts as down, and what came of it is printed.

import { Command } from 'commander'
import { type Decisions, openDecisions } from '../app/decisions.ts'
import type { Version } from '../history/port.ts'
import { uploadReport } from '../history/report.ts'
import { SECOND } from '../lib/clock.ts'
import { FeedsyncError } from '../lib/errors.ts'
import { versionId } from './arguments.ts'
import { commandLineHere } from './command-line.ts'
import { type Context, outJson, readConfig } from './context.ts'
import { EXIT } from './exit-codes.ts'
import { tellEnd } from './version-end.ts'

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
    .description('try a failed or waiting version again now, and print what came of it')
    .argument('[id]', 'the id that status prints', versionId)
    .option('--all', 'all that failed or wait')
    .option('--json', 'the version, as in status --json')
    .action(async (id: number | undefined, _options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      if ((id === undefined) === !options.all) {
        throw new FeedsyncError('retry: name one id, or --all', { exitCode: EXIT.usage })
      }
      using decisions = openDecisions(readConfig(context, options.config), context.clock)
      const ids = id === undefined ? decisions.retriable() : [id]
      const retried = ids.map((each) => retry(decisions, each))
      if (decisions.daemonRuns) await settled(context, decisions, ids)
      const versions = retried.map((version) => decisions.version(version.id) ?? version)
      if (options.json) {
        const reports = versions.map((version) => uploadReport(version))
        outJson(context, id === undefined ? { uploads: reports } : (reports[0] ?? {}))
      } else tell(context, versions, decisions.daemonRuns, options.config)
      // The decision was taken, whatever came of it.
      context.exit(EXIT.ok)
    })
}

function retry(decisions: Decisions, id: number): Version {
  const decided = decisions.decide(id, 'retry')
  if (decided.kind === 'done') return decided.version
  throw new FeedsyncError(decided.reason, { hint: decided.hint })
}

/** Until each was tried, or one of them has shown that the service is still down. */
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

/** What is queued again has a time: the decision itself has none. */
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
    if (daemonRuns) tellEnd(context, version, commandLine)
    else context.out(`version ${version.id} of ${version.feed} is ${version.state}`)
  }
  if (versions.length === 0) context.out('nothing failed, and nothing waits')
  else if (!daemonRuns) context.err('no daemon runs here: it is delivered when one is started')
}
