// Reads the facts that a decision needs. Call each function within the transaction that writes the decision.

import { ACCEPTED, REPLACEABLE } from '../domain/states.ts'
import type {
  History,
  HistoryEvent,
  HistoryReader,
  Origin,
  State,
  Version,
  VersionReads,
} from '../history/port.ts'
import { FeedsyncError } from '../lib/errors.ts'
import type { FileFacts } from './decide/file.ts'
import type { DeedFacts } from './decide/person.ts'
import { type BytesFacts, withNewestDate } from './decide/same-bytes.ts'
import type { Held, SendEvent, SendFacts } from './decide/sending.ts'

/** newerIn returns the id of the feed's newest version in this state; null if that is not newer than this version. */
function newerIn(
  state: State,
  history: VersionReads,
  { feed, id }: Pick<Version, 'feed' | 'id'>,
): number | null {
  const [newest] = history.list({ feed, states: [state], all: true, limit: 1 })
  return newest !== undefined && newest.id > id ? newest.id : null
}

/**
 * sendFacts reads the facts for an event of an attempt. `heldNow` judges the version by the guards; it is asked only
 * when the form has come, and never for a version that a person approved.
 */
export function sendFacts(
  { history, now }: { history: History; now: number },
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
      queued: newerIn('queued', history, version),
      held: isBeginning ? newerIn('held', history, version) : null,
    },
    inARow: code === null ? 0 : history.attemptsInARow(id, code),
  }
}

/** deedFacts reads the facts for the deed of a person. */
export function deedFacts(history: VersionReads, version: Version): DeedFacts {
  return {
    version,
    waiting: history.list({ feed: version.feed, states: REPLACEABLE, all: true }),
  }
}

/** bytesFacts reads the facts that say whether a file repeats a version, or has an older date than another version. */
export function bytesFacts(
  { history, now }: { history: HistoryReader; now: number },
  { path, rule: { feed } }: Origin,
): BytesFacts {
  return {
    now,
    newestRead: once(() => history.newestRead(feed)),
    known: once(() => history.known(path)),
    last: once(() => history.lastVersionAt(path)),
    otherServiceUpTo: history.otherServiceUpTo,
    newestDated: once(() => {
      const states: State[] = [...ACCEPTED, 'held']
      const uploaded = history.lastUploaded(feed)
      const counted = [
        ...history.list({ feed, states, all: true }),
        ...(uploaded ? [uploaded] : []),
      ]
      return withNewestDate(counted)
    }),
  }
}

/** fileFacts reads the facts for an event of a file. */
export function fileFacts(
  { history, now }: { history: History; now: number },
  origin: Origin,
): FileFacts {
  const bytes = bytesFacts({ history, now }, origin)
  const unread = once(() => history.unreadAt(origin.path))
  return {
    ...bytes,
    unread,
    isAlone: () => history.pathsOf(bytes.last()?.id ?? 0).every((path) => path === origin.path),
    waiting: () => history.list({ feed: origin.rule.feed, states: REPLACEABLE, all: true }),
    beforeReading: () => beforeReading(history.events(unread()?.id ?? 0)),
  }
}

/** IDLE are the states in which the daemon leaves a version without known bytes alone. */
const IDLE: readonly string[] = ['incomplete', 'gone', 'failed'] satisfies State[]

function beforeReading(events: readonly HistoryEvent[]): ReturnType<FileFacts['beforeReading']> {
  const past = events.findLast(({ to }) => IDLE.includes(to))
  if (past === undefined || past.to === 'seen') return null
  const { column, line, reason, reasonCode: code, to: state } = past
  const position = line === null || column === null ? null : { line, column }
  return { state, reason: reason === null || code === null ? null : { code, reason, position } }
}

/** once returns a function that reads a fact at its first call only. */
export function once<T>(read: () => T): () => T {
  let known: { value: T } | null = null
  return () => {
    known ??= { value: read() }
    return known.value
  }
}
