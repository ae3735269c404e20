// feedsyncd retry tries a version again now and prints the result. A running daemon tries at once, even if the service
// counts as down.

import type { Command } from 'commander'
import { carryOut, openForDecisions, Refused } from '../app/decisions.ts'
import { isLocked } from '../history/instance-lock.ts'
import type { History, Version } from '../history/port.ts'
import { SECOND } from '../lib/clock.ts'
import { isSoon } from '../lib/due.ts'
import { personName } from '../lib/user.ts'
import { readDaemonFile } from '../ops/daemon-file.ts'
import { uploadReports, withPause } from '../ops/report.ts'
import { type Context, outJson } from './context.ts'
import { NO_DAEMON } from './decide.ts'
import { define, usageError, versionId } from './define.ts'
import { printEnd } from './version-end.ts'

const LOOK_MS = SECOND / 5
/** The command stops waiting after this time. A large upload takes longer, and `show` follows it. */
const LONGEST_MS = 30 * SECOND

export function retryCommand(context: Context): Command {
  const text = 'try a failed or waiting version again now, and print the result'
  return define<{ all?: boolean }>(context, 'retry', text, async (call, id?: number) => {
    const { commandLine, config, options } = call
    if ((id === undefined) === !options.all)
      throw usageError('retry: give one id or --all', 'feedsyncd retry --help')
    using history = openForDecisions(config, context.clock)
    const daemonRuns = isLocked(config.state.directory)
    const deciding = { by: personName(context.env), now: context.clock.now() }
    const retry = (each: number) => carryOut(history, { deed: 'retry', id: each }, deciding)
    const retried =
      id === undefined
        ? retriable(history).flatMap((each) => nullIfRefused(() => retry(each)) ?? [])
        : [retry(id)]
    const isDown = () => readDaemonFile(config.state.directory, context.env)?.service === 'down'
    const pauses = history.pauses(deciding.now)
    const tried = retried.filter(({ feed }) => pauses.of(feed) === null)
    if (daemonRuns) await waitForAttempts(context, history, tried, isDown)
    const versions = retried.map((version) => history.version(version.id) ?? version)
    const reports = versions.map(uploadReports(history, undefined, pauses))
    if (options.json) {
      return outJson(context, id === undefined ? { uploads: reports } : (reports[0] ?? {}))
    }
    for (const version of versions)
      printEnd(context, withPause(version, pauses), daemonRuns ? commandLine : null)
    if (versions.length === 0) context.out('no version has failed, and none is waiting')
    else if (!daemonRuns) context.err(NO_DAEMON)
  })
    .argument('[id]', 'the id that status prints', versionId)
    .option('--all', 'retry every version that failed or waits')
}

/** retriable returns the ids of all versions that failed or wait for their next attempt, oldest first. */
function retriable(history: History): number[] {
  const owed = history.list({ states: ['failed', 'queued'], all: true })
  const meant = owed.filter((one) => one.state === 'failed' || one.nextAttemptAt !== null)
  return meant.map(({ id }) => id).reverse()
}

/** nullIfRefused returns null if the decision is refused: with --all, a version may have changed since the listing. */
function nullIfRefused<T>(work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refused) return null
    throw error
  }
}

/** waitForAttempts waits until each version was tried, or until one attempt shows that the service is still down. */
async function waitForAttempts(
  { clock }: Context,
  history: History,
  retried: readonly Version[],
  isDown: () => boolean,
) {
  const until = clock.monotonic() + LONGEST_MS
  while (clock.monotonic() < until) {
    const versions = retried.flatMap(({ id }) => history.version(id) ?? [])
    const tried = versions.filter((version) => wasTried(version, clock.now()))
    if (tried.length === versions.length) return
    const hasFailed = tried.some(({ state }) => state === 'queued')
    if (hasFailed && isDown()) return
    await clock.sleep(LOOK_MS)
  }
}

/** wasTried: a retry queues a version without a time for the next attempt, and only a failed attempt sets one. */
function wasTried({ nextAttemptAt, state }: Version, now: number): boolean {
  if (state === 'queued') return !isSoon(nextAttemptAt, now)
  return state !== 'uploading' && state !== 'settling' && state !== 'checking'
}
