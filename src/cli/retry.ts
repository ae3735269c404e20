// feedsyncd retry tries versions again now and prints the result. A running daemon tries at once, even if the service
// counts as down.

import type { Command } from 'commander'
import { carryOut, openForDecisions } from '../app/decisions.ts'
import { Refused } from '../app/queries.ts'
import { commandFor, hintWith } from '../domain/command.ts'
import { isLocked } from '../history/instance-lock.ts'
import type { History, InForce, Version } from '../history/port.ts'
import { SECOND } from '../lib/clock.ts'
import { isSoon } from '../lib/due.ts'
import { personName } from '../lib/user.ts'
import { readDaemonFile } from '../ops/daemon-file.ts'
import { uploadReports } from '../ops/upload-report.ts'
import { type Context, outJson } from '../terminal/context.ts'
import { define, usageError, versionIds } from '../terminal/define.ts'
import { NO_DAEMON, printEnds, waitUntilOver, worstOf } from './version-wait.ts'

/** The command stops waiting after this time. A large upload takes longer, and `show` follows it. */
const LONGEST_MS = 30 * SECOND

export function retryCommand(context: Context): Command {
  const text = 'try failed or waiting versions again now, and print the result'
  return define<{ all?: boolean }>(context, 'retry', text, async (call, ids: number[] = []) => {
    const { config, options } = call
    const hasIds = ids.length > 0
    if (hasIds === (options.all === true))
      throw usageError('retry: give ids or --all', hintWith(null, commandFor('retry --help')))
    using history = openForDecisions(config, context.clock)
    const deciding = { by: personName(context.env), now: context.clock.now(), config }
    const pauses = history.pauses(deciding.now)
    const retry = (each: number) => carryOut(history, { deed: 'retry', id: each }, deciding)
    const retried = hasIds
      ? history.atomically(() => ids.map(retry))
      : retriable(history, pauses).flatMap((each) => nullIfRefused(() => retry(each)) ?? [])
    const isRunning = isLocked(config.state.directory)
    if (isRunning) {
      const isDown = () => readDaemonFile(config.state.directory, context.env)?.service === 'down'
      await waitUntilOver(history, {
        clock: context.clock,
        versions: retried.filter(({ feed }) => pauses.of(feed) === null),
        isOver: (version) => wasTried(version, context.clock.now()),
        gaveUp: (over) => over.some(({ state }) => state === 'queued') && isDown(),
        mostMs: LONGEST_MS,
      })
    }
    const commandLine = isRunning ? call.commandLine : null
    if (options.json) {
      const versions = retried.map((version) => history.version(version.id) ?? version)
      const reports = versions.map(uploadReports(history, { pauses }))
      outJson(context, ids.length === 1 ? (reports[0] ?? {}) : { uploads: reports })
      return context.exit(worstOf(versions))
    }
    if (retried.length === 0) return context.out('no version has failed, and none is waiting')
    context.exit(printEnds({ commandLine, context }, history, retried))
    if (!isRunning) context.err(NO_DAEMON)
  })
    .argument('[id...]', 'the ids that status prints', versionIds)
    .option('--all', 'retry every version that failed or waits')
}

/** retriable returns the ids of all versions that failed, or wait for their next attempt or a pause, oldest first. */
function retriable(history: History, pauses: InForce): number[] {
  const unsent = history.list({ states: ['failed', 'queued'], all: true })
  const meant = unsent.filter(
    ({ feed, nextAttemptAt, state }) =>
      state === 'failed' || nextAttemptAt !== null || pauses.of(feed) !== null,
  )
  return meant.map(({ id }) => id).reverse()
}

/** nullIfRefused returns null if the decision is refused: with --all, a version can have changed since the listing. */
function nullIfRefused<T>(work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refused) return null
    throw error
  }
}

/**
 * wasTried returns whether a version was tried since `retry` queued it. A retry removes the time of the next attempt,
 * and only a failed attempt sets it again.
 */
function wasTried({ nextAttemptAt, state }: Version, now: number): boolean {
  if (state === 'queued') return !isSoon(nextAttemptAt, now)
  return state !== 'uploading' && state !== 'settling' && state !== 'checking'
}
