// Owns the closed set of states, the allowed changes between them, and every subset with a meaning. The code is pure:
// the pipeline acts on the file, the spool and the network.

import { FeedsyncError } from '../lib/errors.ts'
import { commandFor, hintWith } from './command.ts'

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

/** The file is being written or read. */
export const READING: States = ['settling', 'incomplete', 'checking']
/** The bytes of the version might not be known yet. */
export const UNREAD: States = [...READING, 'gone']
/** The version is well-formed and plausible, but not stored yet. */
export const ACCEPTED: States = ['queued', 'uploading']
/** The copy waits in the spool to be sent. */
export const UNSENT: States = ['held', 'queued']
/** The version leaves these states automatically. */
export const IN_WORK: States = [...READING, ...ACCEPTED]
/** The states of IN_WORK that last only seconds, because the version waits for nothing. */
export const IN_MOTION: States = ['settling', 'checking', 'uploading']
/** The version still needs a step, automatically or by a person. */
export const OPEN: States = [...IN_WORK, 'held', 'failed']
/** The version needs no more steps, so it may be pruned. */
export const CLOSED: States = STATES.filter((state) => !OPEN.includes(state))
/** A person has to look at the version. */
export const NEEDS_PERSON: States = ['rejected', 'held', 'failed']
/** The version waits, so a newer version may replace it and a person may discard it. */
export const REPLACEABLE: States = ['held', 'queued', 'failed']
/** The bytes of the version will never be sent again. */
export const SPENT: States = ['superseded', 'rejected', 'discarded']
/** The version ended without an upload, so the service still has an earlier version of the feed. */
export const NOT_SENT: States = ['superseded', 'discarded']
/** A version with an older date in its name becomes the newest of its feed if the newest so far is in these states. */
export const OVER: States = [...NOT_SENT, 'gone']
/** A receipt beside the file names these states. */
export const RECEIPTED: States = ['uploaded', ...NEEDS_PERSON, ...NOT_SENT]

/** FIRST_STATES are the states in which a version may begin. `queued` is for a version that a person restored. */
export const FIRST_STATES: States = ['settling', 'queued']

export const NEXT_STATES: Readonly<Record<State, States>> = {
  settling: ['checking', 'gone'],
  /** An incomplete version is `settling` again when its file has changed. */
  incomplete: ['settling', 'checking', 'gone'],
  /**
   * A version is `settling` again if its file changed while it was read. It is `superseded` if the file is older by the
   * date in its name, and it has `failed` if an error of feedsyncd itself ended the reading.
   */
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
  /** A rejected version is `gone` when its file has left the folder, because nobody has to correct the file then. */
  rejected: ['gone', 'discarded'],
  /** A held version has `failed` when its copy is lost. */
  held: ['queued', 'superseded', 'discarded', 'failed'],
  /** A queued version is `held` again if the versions that the guards compare it with have changed meanwhile. */
  queued: ['uploading', 'held', 'superseded', 'discarded', 'failed'],
  /** A version is `queued` again after an attempt that did not succeed, until its next attempt. */
  uploading: ['uploaded', 'queued', 'failed'],
  uploaded: [],
  superseded: [],
  /** A failed version settles again only while its content is unknown (see `assertAllowed`). */
  failed: ['settling', 'queued', 'superseded', 'discarded'],
  discarded: [],
  /** A gone version settles again only while its content is unknown (see `assertAllowed`). */
  gone: ['settling'],
}

/** StateChange is a change of a version's state. */
interface StateChange {
  /** null if the version is new. */
  id: number | null
  from: State | null
  to: State
  /** The version has a sha256: other bytes at its path are then a new version, so this one never settles again. */
  hashed: boolean
}

/** assertAllowed throws `FeedsyncError` with both states for a change that is not allowed. */
export function assertAllowed({ id, ...change }: StateChange): void {
  const reason = whyNotAllowed(change)
  if (reason === null) return
  throw new FeedsyncError(id === null ? reason : `version ${id}: ${reason}`, {
    hint: hintWith(
      'look at its state, which might have changed meanwhile',
      id === null ? commandFor('status') : commandFor('show <what>', id),
    ),
  })
}

function whyNotAllowed({ from, hashed, to }: Omit<StateChange, 'id'>): string | null {
  if (from === null) return FIRST_STATES.includes(to) ? null : `a version cannot begin as ${to}`
  if (!NEXT_STATES[from].includes(to)) return `a version that is ${from} cannot become ${to}`
  // A `failed` or `gone` version settles again only while its bytes are unknown.
  return to === 'settling' && hashed && !READING.includes(from)
    ? `a version that is ${from} and has a known content cannot become ${to}: new bytes are a new version`
    : null
}

export function sqlStates(states: States): string {
  return `(${states.map((state) => `'${state}'`).join(', ')})`
}

/**
 * GuardName names the guard that held a version (pipeline/guards.ts, pipeline/decide/second-feed.ts). `history-lost`
 * holds a version because the history lost what the service has of its feed.
 */
export type GuardName =
  | 'empty'
  | 'min-postings'
  | 'template'
  | 'shape'
  | 'drop'
  | 'missing-ids'
  | 'duplicate-ids'
  | 'shrink'
  | 'replaced'
  | 'other-file'
  | 'second-feed'
  | 'history-lost'
