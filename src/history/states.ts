// Owns the closed set of steps between states. Pure: what a step means for the
// file, the spool or the network is the pipeline's business.

import { FeedsyncError } from '../lib/errors.ts'
import { OWED, STATES, type State } from './port.ts'

/** States that a version may begin in. `queued`: an earlier version that a person restored. */
export const FIRST_STATES: readonly State[] = ['settling', 'checking', 'rejected', 'queued']

export const STEPS: Readonly<Record<State, readonly State[]>> = {
  settling: ['checking', 'rejected', 'gone'],
  /** `settling`: it grew. */
  incomplete: ['settling', 'checking', 'rejected', 'gone'],
  /** `settling`: it changed while it was read. `superseded`: a newer version overtook the check. */
  /** `failed`: an error of feedsyncd itself ended the reading. */
  checking: [
    'settling',
    'incomplete',
    'rejected',
    'held',
    'queued',
    'failed',
    'superseded',
    'gone',
  ],
  /** `settling`: only while its content is unknown, see `stepProblem`. `gone`: nothing is owed any more. */
  rejected: ['settling', 'gone'],
  held: ['queued', 'superseded', 'discarded'],
  /** `held`: what it is compared with has changed before it was sent. */
  queued: ['uploading', 'held', 'superseded', 'discarded', 'failed'],
  /** `queued`: try again later. */
  uploading: ['uploaded', 'queued', 'failed', 'superseded', 'discarded'],
  uploaded: [],
  superseded: [],
  /** `settling`: only while its content is unknown. */
  failed: ['settling', 'queued', 'superseded', 'discarded'],
  discarded: [],
  /** Only while its content is unknown. */
  gone: ['settling'],
}

/** States of a version whose bytes are not known yet. */
export const UNREAD: readonly State[] = ['settling', 'incomplete', 'checking', 'gone']

/** States in which a version still waits, so that a newer one takes its place. */
export const WAITING: readonly State[] = ['held', 'queued', 'failed']

/** States in which nothing is owed any more: history that may be pruned. */
export const SETTLED_STATES: readonly State[] = STATES.filter((state) => !OWED.includes(state))

/**
 * Why a step is impossible, as a plain sentence; null when it may be taken. `hashed`: the version has
 * a sha256, so other bytes at its path are a new version and this one is never looked at again.
 */
export function stepProblem(from: State | null, to: State, hashed: boolean): string | null {
  if (from === null) {
    return FIRST_STATES.includes(to) ? null : `a version cannot begin as ${to}`
  }
  if (!STEPS[from].includes(to)) return `a version that is ${from} cannot become ${to}`
  return to === 'settling' && hashed && ['rejected', 'failed', 'gone'].includes(from)
    ? `a version that is ${from} and has a known content cannot become ${to}: new bytes are a new version`
    : null
}

/** Throws `FeedsyncError`, naming both states, for a step that does not exist. */
export function assertStep(
  id: number | null,
  from: State | null,
  to: State,
  hashed: boolean,
): void {
  const problem = stepProblem(from, to, hashed)
  if (problem === null) return
  throw new FeedsyncError(id === null ? problem : `version ${id}: ${problem}`, {
    hint: 'Look at its state with `feedsyncd show`; it may have changed meanwhile.',
  })
}
