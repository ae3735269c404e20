// What `status`, `show` and the judgement of problems know of one version. Times are ISO 8601 UTC or null.

import type { PostingChanges } from '../domain/difference.ts'
import { ENDPOINT_DOWN, ON_HOLD, PAUSED } from '../domain/reason-codes.ts'
import { type GuardName, NEEDS_PERSON, type State } from '../domain/states.ts'
import type {
  Expectation,
  HeldDifference,
  HistoryReader,
  InForce,
  Version,
} from '../history/port.ts'
import { isoTime } from '../lib/clock.ts'

/** NO_EXPECTATION is for commands that do not check whether a feed is late. */
const NO_EXPECTATION: Expectation = { expectedBy: null, overdue: false }

export const NOT_PAUSED: InForce = { all: [], of: () => null }

/** RowReport has the columns of a version's own row; see `Version`. */
interface RowReport {
  id: number
  feed: string
  path: string
  account: string | null
  sha256: string | null
  bytes: number | null
  postings: number | null
  changes: PostingChanges | null
  state: State
  reason: string | null
  reasonCode: string | null
  hint: string | null
  line: number | null
  column: number | null
  guard: GuardName | null
  attempts: number
  nextAttemptAt: string | null
  incompleteSince: string | null
  detectedAt: string | null
  uploadedAt: string | null
  fileUrl: string | null
  etagVerified: boolean | null
  warnings: string[]
}

function rowReport(version: Version): RowReport {
  const { id, feed, path, account, sha256, bytes, postings, changes, state, guard } = version
  const { reason, reasonCode, hint, line, column } = version
  return {
    id,
    feed,
    path,
    account,
    sha256,
    bytes,
    postings,
    changes,
    state,
    reason,
    reasonCode,
    hint,
    line,
    column,
    guard,
    attempts: version.attempts,
    nextAttemptAt: isoTime(version.nextAttemptAt),
    incompleteSince: isoTime(version.incompleteSince),
    detectedAt: isoTime(version.detectedAt),
    uploadedAt: isoTime(version.uploadedAt),
    fileUrl: version.fileUrl,
    etagVerified: version.etagVerified,
    warnings: version.warnings,
  }
}

/**
 * withPause adds to a queued version the reason and the end of the pause that stops it. Rows do not store this reason,
 * because thousands of versions can wait for one pause.
 */
function withPause(version: Version, pauses: InForce = NOT_PAUSED): Version {
  const pause = version.state === 'queued' ? pauses.of(version.feed) : null
  if (pause === null) return version
  const nextAttemptAt = pause.until && Math.max(pause.until, version.nextAttemptAt ?? 0)
  const reason = `paused by ${pause.by}`
  return { ...version, reason, reasonCode: PAUSED, hint: null, nextAttemptAt }
}

/** VersionFacts is what is known of a version when its next step is chosen. */
export interface VersionFacts extends RowReport, Expectation {
  /** When an incomplete version is rejected; null in other states. */
  rejectedAt: string | null
  /** When a version that needs a person got into its state; null in other states. */
  reachedAt: string | null
  /** How many of the last attempts service or storage refused in a row; see `refusalsOf`. */
  refusals: number
  /** After a lost history: the number of postings in the largest copy that was kept of this feed; null if unknown. */
  keptPostings: number | null
  /** What a held version changes; null if the version is not held or was not compared with another version. */
  difference: HeldDifference | null
  /** The newest version of the feed whose upload had no answer, while nothing later is confirmed; else null. */
  maybeOnService: MaybeStored | null
  /**
   * The version whose date is newer than the dates of the last three exports of the feed; null if no version has such a
   * date, or if this version is not the newest of the feed.
   */
  newerThanAll: { id: number; path: string } | null
}

/** MaybeStored is a version whose upload had no answer. */
export interface MaybeStored {
  id: number
  postings: number | null
}

/** This many refusals in a row need a person. */
export const REFUSALS_SHOWN = 3

/** Circumstances are the facts outside of a version's row that its report needs. All may be left out. */
export interface Circumstances {
  /** Says whether a version's feed is late; see history/expected-feeds.ts. */
  expect?: ((version: Version) => Expectation) | undefined
  pauses?: InForce | undefined
  /** `inbox.incompleteAfter`: how long a version may be incomplete, ms. */
  incompleteAfterMs?: number | undefined
  /** After a lost history: the number of postings in the largest copy that was kept of a feed; null if unknown. */
  kept?: ((feed: string) => number | null) | undefined
  /**
   * Returns the version whose date is newer than the dates of the last exports of the feed; see
   * history/always-older.ts.
   */
  newerThanAll?: ((last: Version) => Version | null) | undefined
}

/** factsOf returns a function that reads from the history what the judgement of a version needs. */
export function factsOf(
  history: HistoryReader,
  {
    expect = () => NO_EXPECTATION,
    incompleteAfterMs,
    kept = () => null,
    newerThanAll = () => null,
    pauses,
  }: Circumstances = {},
): (version: Version) => VersionFacts {
  return (version) => {
    const { incompleteSince, state } = version
    const isTimed = state === 'incomplete' && incompleteSince !== null
    const deadline = isTimed && incompleteAfterMs ? incompleteSince + incompleteAfterMs : null
    return {
      ...rowReport(withPause(version, pauses)),
      ...expect(version),
      rejectedAt: isoTime(deadline),
      reachedAt: NEEDS_PERSON.includes(state)
        ? isoTime(history.reachedAt(version.id, state))
        : null,
      refusals: refusalsOf(history, version),
      keptPostings: version.guard === 'history-lost' ? kept(version.feed) : null,
      difference: state === 'held' ? history.difference(version.id) : null,
      maybeOnService: history.maybeOnService(version.feed),
      newerThanAll: idAndPath(newerThanAll(version)),
    }
  }
}

const idAndPath = (version: Version | null) => version && { id: version.id, path: version.path }

/** Largest number of refusals that refusalsOf counts. */
const MOST_REFUSALS = 50

/**
 * refusalsOf counts the last attempts in a row that service or storage refused. It returns 0 if no further attempt
 * follows, if there were fewer than three attempts, or if the account is on hold.
 */
function refusalsOf(history: HistoryReader, version: Version): number {
  const { attempts, id, reasonCode, state } = version
  if (state !== 'queued' || attempts < REFUSALS_SHOWN || reasonCode === ON_HOLD) return 0
  const outcomes = history.attempts(id, MOST_REFUSALS).map(({ outcome }) => outcome)
  return outcomes.length - 1 - outcomes.findLastIndex((outcome) => outcome !== 'refused')
}

interface ServiceOutage {
  nextProbeAt: number | null
  serviceReason: string | null
}

/**
 * withProbeTime adds to a queued version the time of the next probe and the reason for it, if the probe comes after the
 * next attempt. Rows do not store this time, because thousands of versions can wait for one probe.
 */
export function withProbeTime(version: Version, live: ServiceOutage | null): Version {
  const { nextAttemptAt, reason, reasonCode, state } = version
  const probeAt = live?.nextProbeAt ?? null
  if (state !== 'queued' || probeAt === null || (nextAttemptAt ?? 0) >= probeAt) return version
  const told = reason ?? live?.serviceReason ?? null
  return {
    ...version,
    reason: told,
    reasonCode: reasonCode ?? ENDPOINT_DOWN,
    nextAttemptAt: probeAt,
  }
}
