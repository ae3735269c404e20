// What a person decides about a version: release, discard, retry, restore; and about a feed: forget. Each is one transaction on
// the history; a running daemon finds it there within two seconds.

import { EXIT, FeedsyncError } from '../lib/errors.ts'
import type { Attempts, Files, Notes, State, Transactions, VersionReads, Versions } from './port.ts'
import { DISCARDED, RELEASED, RESTORED, RETRIED, SUPERSEDED } from './reason-codes.ts'
import type { Reason, Version, VersionPatch } from './rows.ts'
import { ACCEPTED, OPEN, REPLACEABLE } from './states.ts'

/** What a decision is written to. */
export type DecisionPorts = Versions & Files & Notes & Transactions & Pick<Attempts, 'attempts'>

export type Decision = 'release' | 'discard' | 'retry'

/** The decision does not apply to the version; nothing was written. */
export class Refused extends FeedsyncError {}

interface Rule {
  from: readonly State[]
  to: State
  code: string
  /** What the person did. */
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

/** Accepted or stored. */
export const ACCEPTED_OR_UPLOADED: readonly State[] = [...ACCEPTED, 'uploaded']

const DROP_AGAIN =
  'drop the file again; upload.keepVersions says how many uploaded versions stay restorable'

/** Name of the note that tells the daemon what to try at once. */
const RETRIED_NOTE = 'retried'

function retried(history: Notes): number[] {
  return JSON.parse(history.note(RETRIED_NOTE) ?? '[]') as number[]
}

/** Versions that a person has retried since this was asked last: they are tried before all others. */
export function takeRetried(history: Notes & Transactions): number[] {
  if (history.note(RETRIED_NOTE) === null) return []
  return history.atomically(() => {
    const ids = retried(history)
    history.setNote(RETRIED_NOTE, null)
    return ids
  })
}

/** Who decides, and when (wall ms). */
export interface Decided {
  by: string
  now: number
}

/** Applies a decision. Throws `Refused` where the version is in no state that it is about. */
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
    // It is being tried: the next attempt is this one.
    if (decision === 'retry' && version.state === 'uploading') return version
    if (!from.includes(version.state) && !(decision === 'discard' && isUnsent(history, version))) {
      const text = `it is ${version.state}, and only what is ${from.join(' or ')} can be`
      const hint = `feedsyncd show ${id}`
      throw new Refused(`${decision} version ${id}: ${text}`, { hint })
    }
    if (decision === 'retry' && version.sha256 === null) {
      // Its reading failed, so there is nothing to send yet: its path is news at the next scan.
      history.forgetPath(version.path)
      return history.move(id, 'settling', reason, now)
    }
    // Sent again it would take the place of a newer one.
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
    return decided
  })
}

/**
 * Makes a new version of the bytes of an earlier one, while the spool still has them. They are shared:
 * spool files never change. Throws `Refused` where they are gone.
 */
export function restore(history: DecisionPorts, id: number, { by, now }: Decided): Version {
  return history.atomically(() => {
    const version = existing(history, id)
    const { account, feed, path, spool, state } = version
    if (spool === null) {
      const text = `its bytes are not kept any more (it is ${state})`
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

/** A feed that nothing more comes of is not shown any more. Throws `Refused` while something of it is there or owed. */
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

/** It is being delivered, and no byte of its file goes out now. */
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

/** `newest`: the id of the newest version; null: there is none. */
export function noVersion(id: number, newest: number | null): string {
  return `there is no version ${id}${newest === null ? '' : `; the newest is ${newest}`}`
}

/** What waits of the feed would be sent before it, or be asked about although this one was chosen. */
function supersedeOthers(history: Versions, newer: Version, now: number): void {
  for (const { id } of replacedBy(history, newer))
    history.move(id, 'superseded', supersededBy(newer.id, id), now)
}

/** Older versions whose place this one takes. */
export function replacedBy(history: VersionReads, version: Version): Version[] {
  const { feed, id } = version
  const all = history.list({ feed, states: replaceable(version), all: true })
  return all.filter((other) => other.id < id)
}

/** Whether what a file is now takes the place of what was found in it before, as a version of another feed. */
export function takesPlaceOf(present: Version, before: Version): boolean {
  return (
    [...ACCEPTED_OR_UPLOADED, 'held'].includes(present.state) &&
    replaceable(present).includes(before.state)
  )
}

/** What is held takes the place of others alone that are held: it may be discarded. */
function replaceable({ state }: Version): readonly State[] {
  return state === 'held' ? [state] : REPLACEABLE
}

export function supersededBy(newer: number, older: number): Reason {
  return { code: SUPERSEDED, text: `version ${newer} took the place of version ${older}` }
}

/** Whether no bytes of its feed are younger. */
export function isNewest(history: VersionReads, { feed, id }: Version): boolean {
  return (history.newestTaken(feed)?.id ?? 0) <= id
}

/** The newest version of the feed in these states, where it is newer than this one. */
export function newerOf(
  history: VersionReads,
  { feed, id }: Version,
  states: readonly State[],
): Version | undefined {
  return history.list({ feed, states, all: true, limit: 1 }).find((other) => other.id > id)
}

/** What a version says of its bytes, which does not change with the attempt to deliver them. */
function contentOf(version: Version): VersionPatch {
  const { sha256, md5, bytes, encoding, root, records, postings, warnings, spool } = version
  const { duplicates, modifiedAt, requisitionIds, externalCampaignIds, withoutId } = version
  const counts = { duplicates, modifiedAt, requisitionIds, externalCampaignIds, withoutId }
  return { sha256, md5, bytes, encoding, root, records, postings, warnings, spool, ...counts }
}
