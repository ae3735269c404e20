// Whether the bytes of a file are a new version of its feed, or one that is there; and whether they are older than what is
// accepted, by the date in the name of the file.

import type { CheckResult } from '../feed/port.ts'
import { otherServiceUpTo } from '../history/other-service.ts'
import type { Files, Notes, Origin, Version, VersionReads } from '../history/port.ts'
import { COPY_LOST, OLDER } from '../history/reason-codes.ts'
import { ACCEPTED } from '../history/states.ts'
import { isDated, isOlder } from '../lib/dated-name.ts'
import { modifiedAt } from '../lib/files.ts'

/** What the guards look at and the rules have a say in. */
const COUNTS = ['records', 'postings', 'withoutId', 'duplicates'] as const

/** The version that these bytes are; null: they are a new one. `sha256` null: not read to their end. */
export function sameBytesOf(
  history: VersionReads & Pick<Files, 'known'> & Pick<Notes, 'note'>,
  origin: Origin,
  { sha256, verdict }: Extract<CheckResult, { kind: 'read' }>,
): Version | null {
  const { identity, path, rule } = origin
  if (sha256 === null) return null
  const newest = history.newestTaken(rule.feed)
  if (newest?.sha256 === sha256) {
    // What was rejected and left is a new version when it comes back; so is what failed and has lost its bytes, and what
    // was superseded because its file belonged to another feed for a while.
    const hasCopy = newest.spool !== null && !COPY_LOST.includes(newest.reasonCode ?? '')
    const isOver = newest.state === 'gone' || newest.state === 'superseded'
    const isLost = isOver || (newest.state === 'failed' && !hasCopy)
    const isOfOther = newest.account !== rule.account || newest.id <= otherServiceUpTo(history)
    const isElsewhere = newest.state === 'uploaded' && isOfOther
    // Other rules may read it by now, or find what it was held for want of.
    const isReadAnew =
      verdict.kind === 'ok' &&
      (newest.state === 'rejected' ||
        (newest.state === 'held' &&
          COUNTS.some((count) => newest[count] !== verdict.content[count])))
    return isLost || isElsewhere || isReadAnew ? null : newest
  }
  // A boot, a backup or chmod changes the rest of what stat says. What nobody wrote since goes over no younger version;
  // a file that is put there again has another inode, whatever its date. On another disk every file has.
  const known = history.known(path)
  if (known === null) return null
  const before = history.version(known.versionId)
  if (before === null || before.feed !== rule.feed || before.sha256 !== sha256) return null
  if (before.reasonCode === OLDER) return newerByName(history, origin) === null ? null : before
  if (identity === null) return null
  const { dev, ino, mtimeNs } = known.identity
  const isMoved = dev !== identity.dev && ino !== identity.ino
  return isMoved || (mtimeNs === identity.mtimeNs && ino === identity.ino) ? before : null
}

/** The newest version that is accepted or uploaded, where the name of this file says that it is older; else null. */
export function newerByName(
  history: VersionReads,
  { identity, path, rule: { feed } }: Origin,
): Version | null {
  if (!isDated(feed)) return null
  const [waiting] = history.list({ feed, states: [...ACCEPTED, 'held'], all: true, limit: 1 })
  const uploaded = history.lastUploaded(feed)
  const newest = (waiting?.id ?? 0) > (uploaded?.id ?? 0) ? (waiting ?? null) : uploaded
  return newest && isOlder(feed, { path, modifiedAt: modifiedAt(identity) }, newest) ? newest : null
}
