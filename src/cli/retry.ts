// feedsyncd retry: tries a version again now. A running daemon does so at once, also while the service counts as
// down, and the result is printed.

import type { Command } from 'commander'
import { type Decisions, openDecisions } from '../app/decisions.ts'
import type { Version } from '../history/port.ts'
import { uploadReport } from '../history/report.ts'
import { SECOND } from '../lib/clock.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { type Context, outJson } from './context.ts'
import { NO_DAEMON, versionOf } from './decide.ts'
import { define, versionId } from './define.ts'
import { printEnd } from './version-end.ts'

const LOOK_MS = SECOND / 5
/** A large upload takes longer: `show` follows it. */
const LONGEST_MS = 30 * SECOND

export function retryCommand(context: Context): Command {
  const text = 'try a failed or waiting version again now, and print the result'
  return define<{ all?: boolean }>(context, 'retry', text, async (call, id?: number) => {
    const { commandLine, config, options } = call
    if ((id === undefined) === !options.all) {
      throw new FeedsyncError('retry: name one id, or --all', { exitCode: EXIT.usage })
    }
    using decisions = openDecisions(config, context.clock)
    const { daemonRuns } = decisions
    const ids = id === undefined ? decisions.retriable() : [id]
    const decided = ids.map((each) => decisions.decide(each, 'retry'))
    // Of all, some may have gone on since they were listed.
    const applied = id === undefined ? decided.filter(({ kind }) => kind === 'done') : decided
    const retried = applied.map(versionOf)
    if (daemonRuns) await settled(context, decisions, retried)
    const versions = retried.map((version) => decisions.version(version.id) ?? version)
    const reports = versions.map((version) => uploadReport(version))
    if (options.json) {
      return outJson(context, id === undefined ? { uploads: reports } : (reports[0] ?? {}))
    }
    for (const version of versions) printEnd(context, version, daemonRuns ? commandLine : null)
    if (versions.length === 0) context.out('no version has failed, and none is waiting')
    else if (!daemonRuns) context.err(NO_DAEMON)
  })
    .argument('[id]', 'the id that status prints', versionId)
    .option('--all', 'every version that failed or waits')
}

/** Waits until each was tried, or one has shown that the service is still down. */
async function settled(context: Context, decisions: Decisions, retried: readonly Version[]) {
  const { clock } = context
  const until = clock.monotonic() + LONGEST_MS
  while (clock.monotonic() < until) {
    const versions = retried.flatMap(({ id }) => decisions.version(id) ?? [])
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
