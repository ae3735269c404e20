// What a person decides about a version: release, discard, retry, restore. Each is one transaction on
// the history; a running daemon finds it there within two seconds.

import type { History, State, Version, VersionPatch } from './port.ts'
import { WAITING } from './states.ts'

export type Decision = 'release' | 'discard' | 'retry'

export type Decided =
  | { kind: 'done'; version: Version }
  | { kind: 'refused'; reason: string; hint: string }

interface Rule {
  from: readonly State[]
  to: State
  reason: string
}

const RULES: Record<Decision, Rule> = {
  release: { from: ['held'], to: 'queued', reason: 'released by a person' },
  discard: { from: ['held', 'queued', 'failed'], to: 'discarded', reason: 'discarded by a person' },
  retry: { from: ['failed', 'queued'], to: 'queued', reason: 'tried again by a person' },
}

/** Name of the note that tells the daemon what to try at once. */
const RETRIED = 'retried'

function retried(history: History): number[] {
  return JSON.parse(history.note(RETRIED) ?? '[]') as number[]
}

/** Versions that a person has retried since this was asked last: they are tried before all others. */
export function takeRetried(history: History): number[] {
  if (history.note(RETRIED) === null) return []
  return history.atomically(() => {
    const ids = retried(history)
    history.setNote(RETRIED, null)
    return ids
  })
}

/** Applies a decision, if the version is in a state that it is about. */
export function decide(history: History, id: number, decision: Decision, now: number): Decided {
  const { from, to, reason } = RULES[decision]
  return history.atomically(() => {
    const version = history.version(id)
    if (version === null) return unknown(id)
    if (!from.includes(version.state)) {
      return {
        kind: 'refused',
        reason: `${decision} version ${id}: it is ${version.state}, and only what is ${from.join(' or ')} can be`,
        hint: `feedsyncd show ${id}`,
      }
    }
    if (decision === 'retry' && version.sha256 === null)
      return readAgain(history, version, reason, now)
    const newer = decision === 'retry' ? acceptedAfter(history, version) : undefined
    if (newer !== undefined) return overtaken(version, newer)
    const approved = decision === 'retry' ? version.approved : decision === 'release'
    const patch = { approved, hint: null, nextAttemptAt: null }
    const decided =
      version.state === to ? history.update(id, patch) : history.move(id, to, reason, now, patch)
    if (decision === 'release') supersedeOthers(history, decided, now)
    if (decision === 'retry') history.setNote(RETRIED, JSON.stringify([...retried(history), id]))
    return { kind: 'done', version: decided }
  })
}

/** Its reading failed, so there is nothing to send yet: its path is news at the next scan. */
function readAgain(history: History, { id, path }: Version, reason: string, now: number): Decided {
  history.unknow(path)
  return { kind: 'done', version: history.move(id, 'settling', reason, now) }
}

/**
 * Makes a new version of the bytes of an earlier one, while the spool still has them. They are shared:
 * spool files never change.
 */
export function restore(history: History, id: number, now: number): Decided {
  return history.atomically(() => {
    const version = history.version(id)
    if (version === null) return unknown(id)
    if (version.spool === null) return withoutBytes(version)
    const { feed, path, account } = version
    const restored = history.add({
      ...{ feed, path, account, at: now },
      state: 'queued',
      reason: `restored from version ${id} by a person`,
      patch: { ...contentOf(version), approved: true },
    })
    supersedeOthers(history, restored, now)
    return { kind: 'done', version: restored }
  })
}

/** What waits of the feed would be sent before it, or be asked about although this one was chosen. */
function supersedeOthers(history: History, { feed, id }: Version, now: number): void {
  for (const older of history.list({ feed, states: WAITING, before: id, all: true })) {
    const reason = `version ${id} took the place of version ${older.id}`
    history.move(older.id, 'superseded', reason, now)
  }
}

/** Sent again it would take the place of this one. */
function acceptedAfter(history: History, { feed, id }: Version): Version | undefined {
  const states = ['queued', 'uploading', 'uploaded'] as const
  return history.list({ feed, states, all: true, limit: 1 }).find((newer) => newer.id > id)
}

function overtaken({ id }: Version, newer: Version): Decided {
  return {
    kind: 'refused',
    reason: `retry version ${id}: version ${newer.id} of its feed is newer, and ${newer.state}`,
    hint: `feedsyncd restore ${id} sends its bytes again, as a new version`,
  }
}

/** What a version says of its bytes, which does not change with the attempt to deliver them. */
function contentOf(version: Version): VersionPatch {
  const { sha256, md5, bytes, encoding, root, records, postings, warnings } = version
  const { duplicates, requisitionIds, externalCampaignIds, spool, withoutId } = version
  return {
    sha256,
    md5,
    bytes,
    encoding,
    root,
    records,
    postings,
    warnings,
    withoutId,
    duplicates,
    requisitionIds,
    externalCampaignIds,
    spool,
  }
}

function unknown(id: number): Decided {
  return {
    kind: 'refused',
    reason: `there is no version ${id}`,
    hint: 'feedsyncd status --all lists them',
  }
}

function withoutBytes({ id, state }: Version): Decided {
  return {
    kind: 'refused',
    reason: `restore version ${id}: its bytes are not kept any more (it is ${state})`,
    hint: 'drop the file again; upload.keepVersions says how many uploaded versions stay restorable',
  }
}
