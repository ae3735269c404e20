// Reads the facts that a decision needs. Call each function within the transaction that writes the decision.

import type { History, State, Version } from '../history/port.ts'
import { REPLACEABLE } from '../history/states.ts'
import { FeedsyncError } from '../lib/errors.ts'
import type { DeedFacts } from './decide/person.ts'
import type { Held, SendEvent, SendFacts } from './decide/sending.ts'

type Reads = Pick<History, 'version' | 'list' | 'pauses' | 'attemptsInARow'>

/** newerOf returns the newest version of the feed in these states that is newer than this one, or null. */
function newerOf(
  history: Pick<History, 'list'>,
  { feed, id }: Pick<Version, 'feed' | 'id'>,
  states: readonly State[],
): Version | null {
  return history.list({ feed, states, all: true, limit: 1 }).find((other) => other.id > id) ?? null
}

/**
 * sendFacts reads the facts for an event of an attempt. `heldNow` judges the version by the guards; it is asked only
 * when the form has come, and never for a version that a person approved.
 */
export function sendFacts(
  { history, now }: { history: Reads; now: number },
  { id, event }: { id: number; event: SendEvent },
  heldNow: (version: Version) => Held | null,
): SendFacts & { version: Version } {
  const version = history.version(id)
  if (version === null) throw new FeedsyncError(`there is no version ${id}`)
  const isBeginning = event.kind === 'prepared' && version.state === 'queued'
  const code = event.kind === 'failed' ? event.failure.code : null
  return {
    version,
    isPaused: isBeginning && history.pauses(now).of(version.feed) !== null,
    held: isBeginning && !version.approved ? heldNow(version) : null,
    newer: {
      queued: newerOf(history, version, ['queued'])?.id ?? null,
      held: isBeginning ? (newerOf(history, version, ['held'])?.id ?? null) : null,
    },
    inARow: code === null ? 0 : history.attemptsInARow(id, code),
  }
}

/** deedFacts reads the facts for the deed of a person. */
export function deedFacts(history: Pick<History, 'list'>, version: Version): DeedFacts {
  return {
    version,
    waiting: history.list({ feed: version.feed, states: REPLACEABLE, all: true }),
  }
}
