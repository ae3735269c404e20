// Decides what an attempt to send a version means for it. Pure: the facts were read, and the transitions are written,
// in the same transaction (pipeline/attempt.ts). test/unit/pipeline/decide/table.test.ts prints the whole table.

import { ConditionError } from '../../domain/conditions.ts'
import type { Failure } from '../../domain/decision-table.ts'
import {
  ENDPOINT_DOWN,
  FAULT,
  ON_HOLD,
  STOPPED,
  UNUSUAL_ANSWER,
} from '../../domain/reason-codes.ts'
import type { AttemptEnd, AttemptOutcome, Reason, Transition, Version } from '../../history/port.ts'
import { errorCode, isRetryable, messageOf } from '../../lib/errors.ts'
import type { Placed } from './replace.ts'
import { waitAfter } from './wait.ts'

/** Held is why a guard holds a version. */
export type Held = Reason & { guard: NonNullable<Version['guard']> }

export interface SendFacts {
  version: Pick<Version, 'id' | 'state' | 'attempts' | 'retries'>
  isPaused: boolean
  /** Why a guard holds the version now; null if it passes, or if a person approved it. */
  held: Held | null
  /** For each of these states, the id of the feed's newest version if it is newer than this version; else null. */
  newer: { queued: number | null; held: number | null }
  /** The earlier attempts in a row that ended with the code of this failure. */
  inARow: number
}

/** Try is how an attempt went, without the outcome that follows from it. */
export type Try = Omit<AttemptEnd, 'outcome' | 'code'> & { startedAt: number }

/** SendEvent is what a step of an attempt found. All times are wall ms. */
export type SendEvent =
  /** The form has come. `key` is the key under which storage will have the file. */
  | { kind: 'prepared'; startedAt: number; key: string }
  /** An origin is down until its next probe, so nothing was requested. */
  | { kind: 'closed'; failure: Failure; until: number }
  /** Storage confirmed the file. `warning` says what was unusual in its answer; null if nothing was. */
  | StoredEvent
  /**
   * The service or storage did not accept the file. `notBefore` is the next probe of an origin that is down, or null;
   * `hold` is why and until when the account waits, or null; `random` is from 0 to 1.
   */
  | FailedEvent
  /** The daemon stopped the attempt. */
  | { kind: 'aborted'; attempt: Try }
  /** An error of feedsyncd itself, or of its disk or database, ended the attempt. */
  | { kind: 'fault'; attempt: Try; error: unknown }

interface StoredEvent {
  kind: 'stored'
  attempt: Try
  fileUrl: string | null
  etagVerified: boolean
  warning: string | null
}

interface FailedEvent {
  kind: 'failed'
  attempt: Try
  failure: Failure
  notBefore: number | null
  hold: { failure: Failure; until: number } | null
  random: number
}

const DAEMON_STOPPED: Reason = { code: STOPPED, reason: 'the daemon stopped' }

/**
 * decideSending returns what an event means for a version. A version that is not queued or uploading any more (a person
 * discarded it, or a newer version took its place) stays as it is.
 */
export function decideSending(facts: SendFacts, event: SendEvent): Transition[] {
  if (facts.version.state === 'uploading') return whileUploading(facts, event)
  return facts.version.state === 'queued' ? whileQueued(facts, event) : []
}

/** whileQueued decides about an event while the form is asked for: no byte of the file has left. */
function whileQueued(facts: SendFacts, event: SendEvent): Transition[] {
  const { id } = facts.version
  switch (event.kind) {
    case 'prepared':
      return begun(facts, event)
    case 'closed':
      return [wait(id, withCode(ENDPOINT_DOWN, event.failure), event.until)]
    case 'failed': {
      return [attemptOf(id, event), ...afterFailure(facts, event), ...ifOvertaken(facts)]
    }
    case 'fault': {
      // A full disk or a locked database: nothing was sent, and the version still waits for its turn.
      if (isRetryable(event.error)) return []
      const reason = faultReason(event.error)
      return [
        attemptOf(id, event),
        { kind: 'move', id, to: 'failed', reason },
        ...ifOvertaken(facts),
      ]
    }
    default:
      // Nothing was sent. Storage cannot have confirmed a file that has no form.
      return []
  }
}

/**
 * begun decides when the form has come, before the first byte of the file leaves: a newer version that waits takes the
 * place of this version, and the guards judge once more.
 */
function begun(
  { version: { id }, held, isPaused, newer }: SendFacts,
  { key, startedAt }: Extract<SendEvent, { kind: 'prepared' }>,
): Transition[] {
  if (isPaused) return []
  if (newer.queued !== null) return [{ kind: 'supersede', id, by: newer.queued }]
  if (held !== null) {
    // A newer held version supersedes this version only if a guard holds this version as well.
    if (newer.held !== null) return [{ kind: 'supersede', id, by: newer.held }]
    const { guard, ...reason } = held
    return [{ kind: 'move', id, to: 'held', reason, patch: { guard } }]
  }
  return [
    { kind: 'move', id, to: 'uploading', reason: null },
    { kind: 'attempt', id, startedAt, key, end: null },
  ]
}

/** whileUploading decides about an event after the form has come: bytes of the file might be on their way. */
function whileUploading(facts: SendFacts, event: SendEvent): Transition[] {
  if (event.kind === 'prepared' || event.kind === 'closed') return []
  const { id } = facts.version
  const end: Transition = { kind: 'attempt-end', id, end: endOf(event) }
  switch (event.kind) {
    case 'stored': {
      const { etagVerified, fileUrl, warning } = event
      const reason = warning === null ? null : { code: UNUSUAL_ANSWER, reason: warning }
      // A newer version that waits is sent next.
      return [end, { kind: 'move', id, to: 'uploaded', reason, patch: { fileUrl, etagVerified } }]
    }
    case 'failed':
      return [end, ...afterFailure(facts, event), ...ifOvertaken(facts)]
    case 'aborted':
      return [end, queue(id, DAEMON_STOPPED, null), ...ifOvertaken(facts)]
    case 'fault':
      return [end, ...afterFault(id, event.error), ...ifOvertaken(facts)]
    default:
      return event satisfies never
  }
}

/** ifOvertaken supersedes a version that was not stored if a newer version waits. */
function ifOvertaken({ newer, version: { id } }: SendFacts): Transition[] {
  return newer.queued === null ? [] : [{ kind: 'supersede', id, by: newer.queued }]
}

function afterFailure(
  { inARow, version }: SendFacts,
  { attempt, failure, hold, notBefore, random }: FailedEvent,
): Transition[] {
  const { attempts, id, retries, state } = version
  if (failure.class === 'credentials') {
    // If the hold of the account has ended meanwhile, the next attempt is due at once.
    if (hold === null) return [again(version, reasonOf(failure), null)]
    return [again(version, withCode(ON_HOLD, hold.failure), hold.until)]
  }
  // `failed`, not `rejected`: the bytes are right, and the other side might accept them tomorrow.
  if (isFinal(failure, inARow + 1))
    return [{ kind: 'move', id, to: 'failed', reason: reasonOf(failure) }]
  // While a version is uploading, `attempts` counts the running attempt already.
  const made = state === 'uploading' ? attempts : attempts + 1
  const at = attempt.endedAt + waitAfter(failure, Math.max(1, made - retries), random)
  return [again(version, reasonOf(failure), Math.max(at, notBefore ?? 0))]
}

/** isFinal returns whether a failure that has come `inARow` times ends the version: another attempt would not help. */
function isFinal({ class: kind, rule }: Failure, inARow: number): boolean {
  return kind !== 'transient' && (rule.tries === 1 || inARow >= rule.tries)
}

/** afterFault queues a version again after a full disk or a locked database, and fails it after a fault of ours. */
function afterFault(id: number, error: unknown): Transition[] {
  if (!isRetryable(error)) return [{ kind: 'move', id, to: 'failed', reason: faultReason(error) }]
  const { hint, message: reason } = error
  const condition = error instanceof ConditionError ? error.condition : null
  return [queue(id, { code: condition ?? errorCode(error) ?? 'temporary', reason, hint }, null)]
}

/** again lets a version wait for its next attempt; a version that is queued already changes no state. */
function again({ id, state }: Placed, reason: Reason, at: number | null): Transition {
  return state === 'uploading' ? queue(id, reason, at) : wait(id, reason, at)
}

function queue(id: number, reason: Reason, nextAttemptAt: number | null): Transition {
  return { kind: 'move', id, to: 'queued', reason, patch: { nextAttemptAt } }
}

function wait(id: number, reason: Reason, nextAttemptAt: number | null): Transition {
  return { kind: 'set', id, reason, patch: { nextAttemptAt } }
}

type Ended = Exclude<SendEvent, { kind: 'prepared' | 'closed' }>

/** attemptOf adds an attempt that ended before a byte of the file left. */
function attemptOf(id: number, event: Ended): Transition {
  const { startedAt, key } = event.attempt
  return { kind: 'attempt', id, startedAt, key, end: endOf(event) }
}

function endOf(event: Ended): AttemptEnd {
  const { startedAt: _, ...attempt } = event.attempt
  return { ...attempt, outcome: outcomeOf(event), code: codeOf(event) }
}

function outcomeOf(event: Ended): AttemptOutcome {
  if (event.kind === 'stored') return 'stored'
  if (event.kind !== 'failed') return event.attempt.bytesSent > 0 ? 'unknown' : 'failed'
  const { class: kind, status, ambiguous } = event.failure
  if (ambiguous) return 'unknown'
  const refused = kind === 'file' || (kind !== 'transient' && status !== null && status >= 400)
  return refused ? 'refused' : 'failed'
}

function codeOf(event: Ended): string | null {
  if (event.kind === 'stored') return null
  if (event.kind === 'failed') return event.failure.code
  return event.kind === 'aborted' ? 'aborted' : 'internal'
}

/** faultReason explains that an error in feedsyncd itself failed the version. */
export function faultReason(error: unknown): Reason {
  return {
    code: FAULT,
    reason: `an internal error of feedsyncd: ${messageOf(error)}`,
    hint: 'report this with the daemon’s log; a newer feedsyncd might accept the file',
  }
}

/** reasonOf returns the reason of a refusal by the service or storage. */
function reasonOf({ code, reason, hint }: Failure): Reason {
  return { code, reason, hint }
}

/** withCode returns the reason of a failure under a code of ours. */
export function withCode(code: string, failure: Failure): Reason {
  return { ...reasonOf(failure), code }
}
