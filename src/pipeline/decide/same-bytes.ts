// Decides whether a file that was read repeats a version of its feed, and whether its name has an older date than
// another version. Pure.

import { orderDate } from '../../domain/dated-name.ts'
import { COPY_LOST, OLDER } from '../../domain/reason-codes.ts'
import type { KnownFile, Origin, Reason, Version, VersionPatch } from '../../history/port.ts'

/** ReadFile is what the reading of a file found. */
export interface ReadFile {
  verdict: 'ok' | 'incomplete' | 'broken'
  /** Why the document is incomplete or broken; null if the verdict is `ok`. */
  reason: Reason | null
  /** null if the file was not read to its end. */
  sha256: string | null
  /** The columns that the reading gives. */
  patch: VersionPatch
  /** The file is not read again, so that an incomplete document is rejected. */
  final: boolean
}

export interface BytesFacts {
  /** Wall ms. */
  now: number
  /** newestRead returns the newest version of the feed with known bytes. */
  newestRead(): Version | null
  /** known returns what stat reported when the file at the path was last read. */
  known(): KnownFile | null
  /** last returns the version that the file at the path was when it was last read. */
  last(): Version | null
  /** otherServiceUpTo returns the last version id that belongs to another service, or 0. */
  otherServiceUpTo(): number
  /**
   * newestDated returns the version with the newest date among the last upload and the versions that wait or are held.
   */
  newestDated(): Version | null
}

/**
 * RULE_COUNTS are the counts that the guards compare and that a rule in `feeds` can change. If one of them differs, the
 * same bytes of a held file become a new version.
 */
const RULE_COUNTS = ['records', 'postings', 'withoutId', 'duplicates', 'placeholder'] as const

/** sameBytes returns the version that the file repeats; null if the file needs a new version. */
export function sameBytes(facts: BytesFacts, origin: Origin, file: ReadFile): Version | null {
  const { sha256 } = file
  if (sha256 === null) return null
  const newest = facts.newestRead()
  if (newest?.sha256 === sha256) return isTakenAnew(facts, origin, { newest, file }) ? null : newest
  const before = facts.last()
  if (before === null || before.feed !== origin.rule.feed || before.sha256 !== sha256) return null
  if (before.reasonCode === OLDER) return newerByDate(facts, origin) === null ? null : before
  return isUnwritten(facts.known(), origin) ? before : null
}

/** isTakenAnew returns whether a file becomes a new version although the newest version has the same bytes. */
function isTakenAnew(
  facts: BytesFacts,
  { rule }: Origin,
  { file, newest }: { file: ReadFile; newest: Version },
): boolean {
  const { account, id, reasonCode, spool, state } = newest
  // The file left and came back, or its version was superseded while its path belonged to another feed.
  if (state === 'gone' || state === 'superseded') return true
  if (state === 'failed') return spool === null || COPY_LOST.includes(reasonCode ?? '')
  if (state === 'uploaded') return account !== rule.account || id <= facts.otherServiceUpTo()
  // New rules can accept a rejected file, or find the postings that a held file seemed to lack.
  if (file.verdict !== 'ok') return false
  if (state === 'rejected') return true
  return state === 'held' && RULE_COUNTS.some((count) => newest[count] !== file.patch[count])
}

/**
 * isUnwritten returns whether nobody wrote the file since it was last read, so that it must not replace a younger
 * version. A boot, a backup or chmod changes only other fields. A file that is dropped again has another inode; a move
 * to another disk changes the device and the inode of every file.
 */
function isUnwritten(known: KnownFile | null, { identity }: Origin): boolean {
  if (known === null || identity === null) return false
  const { dev, ino, mtimeNs } = known.identity
  const isMoved = dev !== identity.dev && ino !== identity.ino
  return isMoved || (mtimeNs === identity.mtimeNs && ino === identity.ino)
}

/**
 * newerByDate returns the version with the newest date of the feed if the date in this file's name is older; else null.
 * Of two files with the same date, the file that is read later wins, because the mtime of a file proves nothing.
 */
export function newerByDate(
  facts: Pick<BytesFacts, 'newestDated' | 'now'>,
  origin: Origin,
): Version | null {
  const own = dateOf(origin, facts.now)
  if (own === null) return null
  const newest = facts.newestDated()
  return newest !== null && isBefore(own, newest.date) ? newest : null
}

/** dateOf returns the date in the file's name that orders the versions of its feed; null if no date counts. */
export function dateOf({ path, rule }: Pick<Origin, 'path' | 'rule'>, now: number): string | null {
  return rule.dated ? orderDate(path, now) : null
}

/** withNewestDate returns the version with the newest date, of several the newest version; null without versions. */
export function withNewestDate(versions: readonly Version[]): Version | null {
  const newestFirst = (a: Version, b: Version) =>
    a.date === b.date ? b.id - a.id : (b.date ?? '') < (a.date ?? '') ? -1 : 1
  return versions.toSorted(newestFirst)[0] ?? null
}

/** isBefore returns whether the first date is earlier. A missing date is neither earlier nor later. */
export function isBefore(date: string | null, other: string | null): boolean {
  return date !== null && other !== null && date < other
}
