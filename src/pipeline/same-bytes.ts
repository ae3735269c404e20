// Decides whether a file is a new version of its feed or repeats an existing one, and whether the date in its name is
// older than the newest accepted version.

import type { CheckResult } from '../feed/port.ts'
import { otherServiceUpTo } from '../history/other-service.ts'
import type { Files, Notes, Origin, Version, VersionReads } from '../history/port.ts'
import { COPY_LOST, OLDER } from '../history/reason-codes.ts'
import { ACCEPTED } from '../history/states.ts'
import { isDated, isOlder } from '../lib/dated-name.ts'
import { modifiedAt } from '../lib/files.ts'

/**
 * RULE_COUNTS are the counts that the guards compare and that a rule in `feeds` can change. If one of them differs, the
 * same bytes of a held file become a new version.
 */
const RULE_COUNTS = ['records', 'postings', 'withoutId', 'duplicates'] as const

/** sameBytesOf returns the version with these bytes, or null for a new one. `sha256` is null if the read stopped. */
export function sameBytesOf(
  history: VersionReads & Pick<Files, 'known'> & Pick<Notes, 'note'>,
  origin: Origin,
  { sha256, verdict }: Extract<CheckResult, { kind: 'read' }>,
): Version | null {
  const { identity, path, rule } = origin
  if (sha256 === null) return null
  const newest = history.newestTaken(rule.feed)
  if (newest?.sha256 === sha256) {
    // A file becomes a new version again if it left and came back, if it failed and its copy is lost, or if it was
    // superseded while its path belonged to another feed.
    const hasCopy = newest.spool !== null && !COPY_LOST.includes(newest.reasonCode ?? '')
    const isOver = newest.state === 'gone' || newest.state === 'superseded'
    const isLost = isOver || (newest.state === 'failed' && !hasCopy)
    const isOfOther = newest.account !== rule.account || newest.id <= otherServiceUpTo(history)
    const isElsewhere = newest.state === 'uploaded' && isOfOther
    // New rules may accept a rejected file, or find the postings that a held file seemed to lack.
    const isReadAnew =
      verdict.kind === 'ok' &&
      (newest.state === 'rejected' ||
        (newest.state === 'held' &&
          RULE_COUNTS.some((count) => newest[count] !== verdict.content[count])))
    return isLost || isElsewhere || isReadAnew ? null : newest
  }
  // A file with the same inode and mtime was not written since, so it must not replace a younger version. A boot, a
  // backup or chmod changes only other fields. A file that is dropped again has another inode; a move to another disk
  // changes the device and the inode of every file.
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

/** newerByName returns the newest accepted or uploaded version if the date in this file's name is older; else null. */
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
