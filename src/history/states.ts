// Owns the closed set of states, the steps between them, and every subset that has a meaning. Pure: what a
// step means for the file, the spool or the network is the pipeline's business.

import { FeedsyncError } from '../lib/errors.ts'

export const STATES = [
  'settling',
  'incomplete',
  'checking',
  'rejected',
  'held',
  'queued',
  'uploading',
  'uploaded',
  'superseded',
  'failed',
  'discarded',
  'gone',
] as const

export type State = (typeof STATES)[number]
type States = readonly State[]

/** Its file is being written or read. */
export const READING: States = ['settling', 'incomplete', 'checking']
/** States of a version whose bytes may not be known yet. */
export const UNREAD: States = [...READING, 'gone']
/** Well-formed, plausible, and not stored yet. */
export const ACCEPTED: States = ['queued', 'uploading']
/** Its copy waits in the spool to be sent. */
export const UNSENT: States = ['held', 'queued']
/** States that a version leaves automatically. */
export const IN_WORK: States = [...READING, ...ACCEPTED]
/** Those of them that last seconds: nothing is waited for. */
export const IN_MOTION: States = ['settling', 'checking', 'uploading']
/** Something still has to happen to it, automatically or by a person. */
export const OPEN: States = [...IN_WORK, 'held', 'failed']
/** Nothing more happens to it: history that may be pruned. */
export const CLOSED: States = STATES.filter((state) => !OPEN.includes(state))
/** A person has to look at it. */
export const NEEDS_PERSON: States = ['rejected', 'held', 'failed']
/** It still waits, so that a newer version takes its place, and a person may discard it. */
export const REPLACEABLE: States = ['held', 'queued', 'failed']
/** Its bytes will never be sent again. */
export const SPENT: States = ['superseded', 'rejected', 'discarded']
/** Whoever dropped the file gets a receipt that says so. */
export const RECEIPTED: States = ['uploaded', ...NEEDS_PERSON]

/** States that a version may begin in. `queued`: an earlier version that a person restored. */
export const FIRST_STATES: States = ['settling', 'queued']

export const STEPS: Readonly<Record<State, States>> = {
  settling: ['checking', 'gone'],
  /** `settling`: it grew. */
  incomplete: ['settling', 'checking', 'gone'],
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
  /** `gone`: nothing is owed any more. */
  rejected: ['gone', 'discarded'],
  /** `failed`: its copy is lost. */
  held: ['queued', 'superseded', 'discarded', 'failed'],
  /** `held`: what it is compared with has changed before it was sent. */
  queued: ['uploading', 'held', 'superseded', 'discarded', 'failed'],
  /** `queued`: try again later. */
  uploading: ['uploaded', 'queued', 'failed', 'superseded', 'discarded'],
  uploaded: [],
  superseded: [],
  /** `settling`: only while its content is unknown, see `assertStep`. */
  failed: ['settling', 'queued', 'superseded', 'discarded'],
  discarded: [],
  /** Only while its content is unknown. */
  gone: ['settling'],
}

/**
 * Throws `FeedsyncError`, naming both states, for a step that does not exist. `hashed`: the version has a sha256, so
 * other bytes at its path are a new version and this one is never looked at again.
 */
export function assertStep(
  id: number | null,
  from: State | null,
  to: State,
  hashed: boolean,
): void {
  const problem = stepProblem(from, to, hashed)
  if (problem === null) return
  throw new FeedsyncError(id === null ? problem : `version ${id}: ${problem}`, {
    hint: `look at its state, which may have changed meanwhile: feedsyncd show ${id ?? 'ID'}`,
  })
}

function stepProblem(from: State | null, to: State, hashed: boolean): string | null {
  if (from === null) return FIRST_STATES.includes(to) ? null : `a version cannot begin as ${to}`
  if (!STEPS[from].includes(to)) return `a version that is ${from} cannot become ${to}`
  // Of those in work only what is not read yet settles.
  return to === 'settling' && hashed && !READING.includes(from)
    ? `a version that is ${from} and has a known content cannot become ${to}: new bytes are a new version`
    : null
}

/** A set of states as SQL has it. */
export function sqlStates(states: States): string {
  return `(${states.map((state) => `'${state}'`).join(', ')})`
}
