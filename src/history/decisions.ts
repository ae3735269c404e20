// Owns the decisions of a person: release, discard, retry and restore a version, forget a feed. Each is one
// transaction on the history; a running daemon finds it there within two seconds.

import { EXIT, FeedsyncError } from '../lib/errors.ts'
import type { Attempts, Files, Notes, State, Transactions, VersionReads, Versions } from './port.ts'
import { DISCARDED, RELEASED, RESTORED, RETRIED, SUPERSEDED } from './reason-codes.ts'
import type { Reason, Version, VersionPatch } from './rows.ts'
import { ACCEPTED, OPEN, REPLACEABLE } from './states.ts'

export type DecisionPorts = Versions & Files & Notes & Transactions & Pick<Attempts, 'attempts'>

export type Decision = 'release' | 'discard' | 'retry'

/** Refused is thrown when a decision does not apply to the version. Nothing was written. */
export class Refused extends FeedsyncError {}

interface Rule {
  from: readonly State[]
  to: State
  code: string
  /** The first words of the reason: `released by maria`. */
  done: string
}

const RULES: Record<Decision, Rule> = {
  release: {
    from: ['held'],
    to: 'queued',
    ...{ code: RELEASED, done: 'released' },
  },
  discard: {
    from: [...REPLACEABLE, 'rejected'],
    to: 'discarded',
    ...{ code: DISCARDED, done: 'discarded' },
  },
  retry: {
    from: ['failed', 'queued'],
    to: 'queued',
    ...{ code: RETRIED, done: 'tried again' },
  },
}

export const ACCEPTED_OR_UPLOADED: readonly State[] = [...ACCEPTED, 'uploaded']

const DROP_AGAIN =
  'drop the file again; upload.keepVersions sets how many uploaded versions you can restore'

/** Name of the note with the ids of the versions that the daemon must try at once. */
const RETRIED_NOTE = 'retried'

function retried(history: Notes): number[] {
  return JSON.parse(history.note(RETRIED_NOTE) ?? '[]') as number[]
}

/** takeRetried returns and clears the ids of retried versions, which the daemon tries before all others. */
export function takeRetried(history: Notes & Transactions): number[] {
  if (history.note(RETRIED_NOTE) === null) return []
  return history.atomically(() => {
    const ids = retried(history)
    history.setNote(RETRIED_NOTE, null)
    return ids
  })
}

/** Name of the note with the number of retries of each version that still waits. */
const RETRIES_NOTE = 'retries'

function retries(history: Pick<Notes, 'note'>): Record<string, number> {
  return JSON.parse(history.note(RETRIES_NOTE) ?? '{}') as Record<string, number>
}

/** countRetry counts a retry of a person, and forgets those of versions that no longer wait. */
function countRetry(history: VersionReads & Notes, id: number): void {
  const isWaiting = ([one]: [string, number]) => history.version(Number(one))?.state === 'queued'
  const waiting = Object.fromEntries(Object.entries(retries(history)).filter(isWaiting))
  const counted = { ...waiting, [id]: (waiting[id] ?? 0) + 1 }
  history.setNote(RETRIES_NOTE, JSON.stringify(counted))
}

/** retriesOf returns how many attempts of a version a person asked for. They do not lengthen the wait for the next one. */
export function retriesOf(history: Pick<Notes, 'note'>, id: number): number {
  return retries(history)[id] ?? 0
}

/** Decided is who decided, and when (wall ms). */
export interface Decided {
  by: string
  now: number
}

/** decide applies a decision to a version. Throws `Refused` when the state of the version does not allow it. */
export function decide(
  history: DecisionPorts,
  id: number,
  decision: Decision,
  { by, now }: Decided,
): Version {
  const { code, done, from, to } = RULES[decision]
  const reason = { code, text: `${done} by ${by}` }
  return history.atomically(() => {
    const version = existing(history, id)
    // The retry that the person asks for is running already.
    if (decision === 'retry' && version.state === 'uploading') return version
    if (!from.includes(version.state) && !(decision === 'discard' && isUnsent(history, version))) {
      const text = `it is ${version.state}; this needs a version that is ${from.join(' or ')}`
      const hint = `feedsyncd show ${id}`
      throw new Refused(`${decision} version ${id}: ${text}`, { hint })
    }
    if (decision === 'retry' && version.sha256 === null) {
      // Reading its file failed, so it has no copy to send: the next scan must read the path again.
      history.forgetPath(version.path)
      return history.move(id, 'settling', reason, now)
    }
    // An older version that is sent now would replace a newer one on the service.
    const newer = decision === 'retry' ? newerOf(history, version, ACCEPTED_OR_UPLOADED) : undefined
    if (newer !== undefined) {
      const text = `version ${newer.id} of its feed is newer, and ${newer.state}`
      const hint = `to send its bytes again, as a new version: feedsyncd restore ${id}`
      throw new Refused(`retry version ${id}: ${text}`, { hint })
    }
    const approved = decision === 'retry' ? version.approved : decision === 'release'
    const patch = { approved, nextAttemptAt: null }
    const decided =
      version.state === to
        ? history.update(id, patch, reason)
        : history.move(id, to, reason, now, patch)
    if (decision === 'release') supersedeOthers(history, decided, now)
    if (decision === 'retry')
      history.setNote(RETRIED_NOTE, JSON.stringify([...retried(history), id]))
    if (decision === 'retry') countRetry(history, id)
    return decided
  })
}

/**
 * restore makes a new version from the bytes of an earlier one. Both versions share the copy in the spool, which never
 * changes. Throws `Refused` when the spool no longer has the copy.
 */
export function restore(history: DecisionPorts, id: number, { by, now }: Decided): Version {
  return history.atomically(() => {
    const version = existing(history, id)
    const { account, feed, path, spool, state } = version
    if (spool === null) {
      const text = `its bytes are no longer kept (it is ${state})`
      throw new Refused(`restore version ${id}: ${text}`, { hint: DROP_AGAIN })
    }
    const restored = history.add({
      feed,
      path,
      account,
      at: now,
      state: 'queued',
      reason: { code: RESTORED, text: `restored from version ${id} by ${by}` },
      patch: { ...contentOf(version), approved: true },
    })
    supersedeOthers(history, restored, now)
    return restored
  })
}

/** forgetFeed hides a feed that has ended. Throws `Refused` while it has a file in the inbox or an open version. */
export function forgetFeed(
  history: Pick<DecisionPorts, 'atomically' | 'forgetFeed' | 'list' | 'pathOf'>,
  feed: string,
  now: number,
): void {
  history.atomically(() => {
    const path = history.pathOf(feed)
    if (path !== null) {
      const hint = 'move the file out of the inbox, and wait for the next scan'
      throw new Refused(`forget ${feed}: its file ${path} is in the inbox`, { hint })
    }
    const [open] = history.list({ feed, states: OPEN, all: true, limit: 1 })
    if (open !== undefined) {
      const { id, state } = open
      const hint = `feedsyncd ${REPLACEABLE.includes(state) ? 'discard' : 'show'} ${id}`
      throw new Refused(`forget ${feed}: version ${id} of it is ${state}`, { hint })
    }
    history.forgetFeed(feed, now)
  })
}

/** isUnsent returns whether a version is being delivered, but no byte of its file is being sent now. */
function isUnsent(history: Pick<Attempts, 'attempts'>, { id, state }: Version): boolean {
  const [last] = history.attempts(id, 1)
  return state === 'uploading' && (last?.endedAt !== null || last.key === null)
}

function existing(history: VersionReads, id: number): Version {
  const version = history.version(id)
  if (version !== null) return version
  const [newest] = history.list({ all: true, limit: 1 })
  throw new Refused(noVersion(id, newest?.id ?? null), {
    hint: 'feedsyncd status --all',
    exitCode: EXIT.usage,
  })
}

/** noVersion says that a version does not exist. `newest` is the id of the newest version, or null without versions. */
export function noVersion(id: number, newest: number | null): string {
  return `there is no version ${id}${newest === null ? '' : `; the newest is ${newest}`}`
}

/** supersedeOthers ends the older versions that wait: the person chose `newer` instead of them. */
function supersedeOthers(history: Versions, newer: Version, now: number): void {
  for (const { id } of replacedBy(history, newer))
    history.move(id, 'superseded', supersededBy(newer.id, id), now)
}

/** replacedBy returns the older versions of the feed that this one replaces. */
export function replacedBy(history: VersionReads, version: Version): Version[] {
  const { feed, id } = version
  const all = history.list({ feed, states: replaceable(version), all: true })
  return all.filter((other) => other.id < id)
}

/** takesPlaceOf returns whether `present` replaces `before`, an earlier version of the same file in another feed. */
export function takesPlaceOf(present: Version, before: Version): boolean {
  return (
    [...ACCEPTED_OR_UPLOADED, 'held'].includes(present.state) &&
    replaceable(present).includes(before.state)
  )
}

/**
 * replaceable returns the states that a version may replace. A held version may be discarded, so it replaces only held
 * ones.
 */
function replaceable({ state }: Version): readonly State[] {
  return state === 'held' ? [state] : REPLACEABLE
}

export function supersededBy(newer: number, older: number): Reason {
  return { code: SUPERSEDED, text: `version ${newer} took the place of version ${older}` }
}

/** isNewest returns whether no newer version of the feed has known bytes. */
export function isNewest(history: VersionReads, { feed, id }: Version): boolean {
  return (history.newestTaken(feed)?.id ?? 0) <= id
}

export function newerOf(
  history: VersionReads,
  { feed, id }: Version,
  states: readonly State[],
): Version | undefined {
  return history.list({ feed, states, all: true, limit: 1 }).find((other) => other.id > id)
}

function contentOf(version: Version): VersionPatch {
  const { sha256, md5, bytes, encoding, root, records, postings, warnings, spool } = version
  const { duplicates, modifiedAt, requisitionIds, externalCampaignIds, withoutId } = version
  const counts = { duplicates, modifiedAt, requisitionIds, externalCampaignIds, withoutId }
  return { sha256, md5, bytes, encoding, root, records, postings, warnings, spool, ...counts }
}
