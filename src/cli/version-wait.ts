// Waits for the result of versions that a person decided about, and prints it.

import { isLocked } from '../history/instance-lock.ts'
import type { History, Version } from '../history/port.ts'
import { type Clock, SECOND } from '../lib/clock.ts'
import { EXIT } from '../lib/errors.ts'
import type { CommandLine } from '../ops/port.ts'
import { factsOf } from '../ops/version-report.ts'
import type { Context } from '../terminal/context.ts'
import type { Call } from '../terminal/define.ts'
import { exitCodeOf, printEnd } from './version-end.ts'

const LOOK_MS = SECOND / 5

export const NO_DAEMON = 'no daemon is running: the delivery starts when a daemon starts'

/** whyNotSent returns why a version that may be sent is not sent now; null if nothing prevents it. */
export function whyNotSent(
  { config, context }: Call<unknown>,
  history: History,
  versions: readonly Version[],
): string | null {
  const isToSend = ({ state }: Version) => state === 'queued' || state === 'settling'
  const waiting = versions.filter(isToSend)
  if (waiting.length === 0) return null
  if (!isLocked(config.state.directory)) return NO_DAEMON
  const pauses = history.pauses(context.clock.now())
  const pause = waiting.map(({ feed }) => pauses.of(feed)).find((one) => one !== null)
  return pause == null ? null : `paused by ${pause.by}: the delivery starts when the pause ends`
}

/**
 * waitUntilOver waits until `isOver` is true for each version, or for `mostMs`. It also ends when `gaveUp`, which gets
 * the versions that are over, returns true.
 */
export async function waitUntilOver(
  history: History,
  {
    clock,
    gaveUp = () => false,
    isOver,
    mostMs,
    versions,
  }: {
    clock: Clock
    versions: readonly Version[]
    isOver: (version: Version) => boolean
    gaveUp?: (over: readonly Version[]) => boolean
    mostMs: number
  },
): Promise<void> {
  const end = clock.monotonic() + mostMs
  while (clock.monotonic() < end) {
    const current = versions.flatMap(({ id }) => history.version(id) ?? [])
    const over = current.filter(isOver)
    if (over.length === current.length || gaveUp(over)) return
    await clock.sleep(LOOK_MS)
  }
}

/** printEnds prints each version as it is now (see `printEnd`), and returns the exit code of the worst one. */
export function printEnds(
  { commandLine, context }: { commandLine: CommandLine | null; context: Context },
  history: History,
  versions: readonly Version[],
): number {
  const pauses = history.pauses(context.clock.now())
  const current = versions.map((version) => history.version(version.id) ?? version)
  for (const version of current)
    printEnd(context, factsOf(history, { pauses })(version), commandLine)
  return worstOf(current)
}

/** The exit codes of several versions, the most important first. */
const EXITS: readonly number[] = [EXIT.failed, EXIT.notAllOk, EXIT.temporary]

/** worstOf returns the exit code of the worst of several versions. */
export function worstOf(versions: readonly Version[]): number {
  const codes = new Set(versions.map(exitCodeOf))
  return EXITS.find((code) => codes.has(code)) ?? EXIT.ok
}
