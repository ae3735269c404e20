// Decides what a start means for a version that the last run left behind. Pure: daemon/recovery.ts reads the facts and
// writes the transitions.

import { COPY_GONE, NOT_SEEN, STOPPED } from '../../domain/reason-codes.ts'
import { UNSENT } from '../../domain/states.ts'
import type { NewVersion, Reason, Transition, Version } from '../../history/port.ts'
import { formatDuration } from '../../lib/units.ts'
import type { Placed } from './replace.ts'

/** StartEvent is what the start found. */
type StartEvent =
  /**
   * The last run ended in the middle of a step. `at` is the wall ms of this start, and `key` the object key of the
   * attempt that was running.
   */
  | { kind: 'crashed'; at: number; key: string | null }
  /** The copy in the spool was lost with a disk or a host. `paths` are the files of this version. */
  | { kind: 'copy-lost'; fileIsThere: boolean; paths: readonly string[] }
  /** The state directory is a copy from an earlier moment. */
  | { kind: 'copied-state'; fileIsUnchanged: boolean }
  /** No rule expects the feed any more. */
  | { kind: 'not-expected' }

const AFTER_STOP: Reason = { code: STOPPED, reason: 'feedsyncd stopped before this was done' }

const COPIED_STATE: Reason = {
  code: 'history-lost',
  reason: 'the history was restored: a newer version might be on the service',
  hint: 'Compare its postings with those on the service; release it if it is right, or discard it.',
}

/** decideStart returns what the event means for a version. A version that needs nothing stays as it is. */
export function decideStart(
  version: Pick<Version, 'id' | 'state' | 'sha256'>,
  event: StartEvent,
): Transition[] {
  switch (event.kind) {
    case 'crashed':
      return afterCrash(version, event)
    case 'copy-lost':
      return withoutCopy(version, event)
    case 'copied-state':
      return version.state === 'queued' && !event.fileIsUnchanged ? [hold(version.id)] : []
    case 'not-expected': {
      const isEmpty = version.state === 'gone' && version.sha256 === null
      return isEmpty ? [{ kind: 'drop', id: version.id, heir: null }] : []
    }
    default:
      return event satisfies never
  }
}

function afterCrash(
  { id, state }: Placed,
  { at, key }: Extract<StartEvent, { kind: 'crashed' }>,
): Transition[] {
  if (state === 'checking') return [{ kind: 'move', id, to: 'settling', reason: AFTER_STOP }]
  if (state !== 'uploading') return []
  // Storage might have the file. The next attempt sends the file again, under a new key.
  const end = {
    endedAt: at,
    outcome: 'unknown',
    status: null,
    code: null,
    bytesSent: 0,
    key,
  } as const
  return [
    { kind: 'attempt-end', id, end },
    { kind: 'move', id, to: 'queued', reason: AFTER_STOP },
  ]
}

/**
 * withoutCopy supersedes an unsent version whose file is still there, and forgets the paths, so that the file is read
 * again as a new version. Without the file, the version fails, so that a person learns of it.
 */
function withoutCopy(
  { id, state }: Placed,
  { fileIsThere, paths }: Extract<StartEvent, { kind: 'copy-lost' }>,
): Transition[] {
  const lost: Transition = { kind: 'set', id, patch: { spool: null } }
  if (!UNSENT.includes(state)) return [lost]
  const unlinked = paths.map((path): Transition => ({ kind: 'unlink', path }))
  const code = COPY_GONE
  if (fileIsThere) {
    const reason = 'its copy in the state directory is gone: its file is read again'
    return [lost, ...unlinked, { kind: 'move', id, to: 'superseded', reason: { code, reason } }]
  }
  const reason = 'its copy is missing: it was on the host that was lost'
  const hint = 'put the file into the folder again'
  return [lost, ...unlinked, { kind: 'move', id, to: 'failed', reason: { code, reason, hint } }]
}

function hold(id: number): Transition {
  const patch = { guard: 'history-lost' } as const
  return { kind: 'move', id, to: 'held', reason: COPIED_STATE, patch }
}

/** decideExpected adds a `gone` version for an expected feed without files. `everyMs` is the time between two files. */
export function decideExpected({
  everyMs,
  feed,
  path,
}: {
  everyMs: number
  feed: string
  path: string
}): Transition[] {
  const version: NewVersion = { feed, path, account: null, state: 'settling', reason: null }
  const reason = `no file of this feed has come yet; one is expected every ${formatDuration(everyMs)}`
  return [
    { kind: 'add', version },
    { kind: 'move', id: 'new', to: 'gone', reason: { code: NOT_SEEN, reason } },
  ]
}
