// Decides what a command of a person means for a version. Pure: app/decisions.ts reads the facts and writes the
// transitions in one transaction.

import { commandFor, hintWith } from '../../domain/command.ts'
import { DISCARDED, RELEASED, RESTORED, RETRIED } from '../../domain/reason-codes.ts'
import { REPLACEABLE } from '../../domain/states.ts'
import type { Transition, Version, VersionPatch } from '../../history/port.ts'
import { type Placed, replaced } from './replace.ts'

export type Deed = 'release' | 'discard' | 'retry' | 'restore'

export interface DeedFacts {
  version: Version
  /** The versions of the feed whose place a newer version can take (`REPLACEABLE`). */
  waiting: readonly Placed[]
}

/** Refusal says why a deed does not apply to the version, and what to do instead. */
export interface Refusal {
  kind: 'refused'
  reason: string
  /** A plain sentence, or a command with the id of the version. */
  hint: string
}

const DROP_AGAIN =
  'drop the file again; upload.keepVersions sets how many uploaded versions you can restore'

/** decideDeed returns what the deed of the person `by` changes, or why it is refused. */
export function decideDeed(facts: DeedFacts, deed: Deed, by: string): Transition[] | Refusal {
  switch (deed) {
    case 'release':
      return release(facts, by)
    case 'discard':
      return discard(facts, by)
    case 'retry':
      return retry(facts, by)
    case 'restore':
      return restore(facts, by)
    default:
      return deed satisfies never
  }
}

function release({ version: { id, spool, state }, waiting }: DeedFacts, by: string) {
  if (state === 'discarded' && spool !== null) {
    const hint = hintWith('to send it all the same', commandFor('restore <id...>', [id]))
    return refused('it is discarded', hint)
  }
  if (state !== 'held') return wrongState({ id, state }, ['held'])
  if (spool === null) return noCopy(state)
  const reason = { code: RELEASED, reason: `released by ${by}` }
  const patch = { approved: true }
  return [
    { kind: 'move', id, to: 'queued', reason, patch },
    ...replaced(waiting, id, 'queued'),
  ] satisfies Transition[]
}

function discard({ version: { id, state } }: DeedFacts, by: string) {
  const from = [...REPLACEABLE, 'rejected'] as const
  // An `uploading` version cannot be discarded, because its bytes might be on their way.
  if (!from.includes(state)) return wrongState({ id, state }, from)
  const reason = { code: DISCARDED, reason: `discarded by ${by}` }
  return [
    { kind: 'move', id, to: 'discarded', reason, patch: { approved: false } },
  ] satisfies Transition[]
}

/**
 * retry queues a version again, which then supersedes the older versions as each queued version does. A version that
 * was never read is read again.
 */
function retry({ version: { id, path, sha256, spool, state }, waiting }: DeedFacts, by: string) {
  // The attempt that the person asks for runs already.
  if (state === 'uploading') return []
  if (state !== 'failed' && state !== 'queued')
    return wrongState({ id, state }, ['failed', 'queued'])
  const reason = { code: RETRIED, reason: `tried again by ${by}` }
  if (sha256 === null) {
    // Reading its file failed, so it has no copy to send: the next scan must read the path again.
    return [
      { kind: 'unlink', path },
      { kind: 'move', id, to: 'settling', reason },
    ] satisfies Transition[]
  }
  if (spool === null) return noCopy(state)
  const patch: VersionPatch = { nextAttemptAt: null }
  const queued: Transition =
    state === 'queued'
      ? { kind: 'set', id, reason, patch }
      : { kind: 'move', id, to: 'queued', reason, patch }
  return [queued, { kind: 'first', id }, ...replaced(waiting, id, 'queued')] satisfies Transition[]
}

/** restore adds a version with the bytes of an earlier one. Both share the copy in the spool, which never changes. */
function restore({ version, waiting }: DeedFacts, by: string) {
  const { account, feed, id, path, spool, state } = version
  if (spool === null) return refused(`its bytes are no longer kept (it is ${state})`, DROP_AGAIN)
  const reason = { code: RESTORED, reason: `restored from version ${id} by ${by}` }
  const patch = { ...contentOf(version), approved: true }
  const added: Transition = {
    kind: 'add',
    version: { feed, path, account, state: 'queued', reason, patch },
  }
  return [added, ...replaced(waiting, 'new', 'queued')]
}

function wrongState({ id, state }: Placed, from: readonly string[]): Refusal {
  return refused(
    `it is ${state}; this needs a version that is ${from.join(' or ')}`,
    hintWith(null, commandFor('show <what>', id)),
  )
}

function noCopy(state: string): Refusal {
  return refused(
    `its copy is no longer kept (it is ${state}), so there is nothing to send`,
    DROP_AGAIN,
  )
}

function refused(reason: string, hint: string): Refusal {
  return { kind: 'refused', reason, hint }
}

function contentOf(version: Version): VersionPatch {
  const { sha256, md5, bytes, encoding, root, records, postings, warnings, spool } = version
  const { date, duplicates, modifiedAt, placeholder, requisitionIds, externalCampaignIds } = version
  const { withoutId } = version
  const counts = { date, duplicates, modifiedAt, placeholder, requisitionIds, externalCampaignIds }
  return {
    sha256,
    md5,
    bytes,
    encoding,
    root,
    records,
    postings,
    warnings,
    spool,
    withoutId,
    ...counts,
  }
}
