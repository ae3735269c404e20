// Whether the bytes of a file are a new version of its feed, or one that is there.

import type { CheckResult } from '../feed/port.ts'
import type { Origin } from '../history/ledger.ts'
import { elsewhereUpTo } from '../history/other-service.ts'
import type { Files, Notes, Version, VersionReads } from '../history/port.ts'
import { COPY_LOST } from '../history/reason-codes.ts'

/** What the guards look at and the rules have a say in. */
const COUNTS = ['records', 'postings', 'withoutId', 'duplicates'] as const

/** The version that these bytes are; null: they are a new one. `sha256` null: not read to their end. */
export function sameBytesOf(
  history: VersionReads & Pick<Files, 'known'> & Pick<Notes, 'note'>,
  { identity, path, rule }: Origin,
  { sha256, verdict }: Extract<CheckResult, { kind: 'read' }>,
): Version | null {
  if (sha256 === null) return null
  const newest = history.newestTaken(rule.feed)
  if (newest?.sha256 === sha256) {
    // What was rejected and left is a new version when it comes back; so is what failed and has lost its bytes, and what
    // was superseded because its file belonged to another feed for a while.
    const hasCopy = newest.spool !== null && !COPY_LOST.includes(newest.reasonCode ?? '')
    const isOver = newest.state === 'gone' || newest.state === 'superseded'
    const isLost = isOver || (newest.state === 'failed' && !hasCopy)
    const isOfOther = newest.account !== rule.account || newest.id <= elsewhereUpTo(history)
    const isElsewhere = newest.state === 'uploaded' && isOfOther
    // It may be held for want of what other rules have found by now.
    const isReadAnew =
      newest.state === 'held' &&
      verdict.kind === 'ok' &&
      COUNTS.some((count) => newest[count] !== verdict.content[count])
    return isLost || isElsewhere || isReadAnew ? null : newest
  }
  // A boot, a backup or chmod changes the rest of what stat says. What nobody wrote since goes over no younger version;
  // a file that is put there again has another inode, whatever its date. On another disk every file has.
  const known = history.known(path)
  if (known === null || identity === null) return null
  const { dev, ino, mtimeNs } = known.identity
  const isMoved = dev !== identity.dev && ino !== identity.ino
  if (!isMoved && (mtimeNs !== identity.mtimeNs || ino !== identity.ino)) return null
  const before = history.version(known.versionId)
  return before?.feed === rule.feed && before.sha256 === sha256 ? before : null
}
