// Owns which feeds are shut out by a date: each of their last exports is older, by its name, than a version before it.

import { OLDER } from '../domain/reason-codes.ts'
import type { VersionReads } from './port.ts'
import type { Version } from './rows.ts'

/** This many exports in a row are not an accident: a date is wrong, or the number in the names is not a date. */
const EXPORTS = 3

/**
 * newerThanAll returns the version whose date is newer than the dates of the last three exports of a feed, of which
 * `last` is the newest; null if no version is newer. Only files that were written after that version came count as
 * exports: old files that somebody puts into the folder do not.
 */
export function newerThanAll(history: VersionReads, last: Version): Version | null {
  const { feed, id, reasonCode } = last
  if (reasonCode !== OLDER) return null
  const newest = history.newest(feed)
  const newer = newest?.reasonCode === OLDER ? history.lastUploaded(feed) : newest
  const exports = history.list({ feed, all: true, limit: EXPORTS })
  if (newer === null || exports.length < EXPORTS || exports[0]?.id !== id) return null
  const isOlder = ({ modifiedAt, reasonCode }: Version) =>
    reasonCode === OLDER && (modifiedAt ?? 0) > newer.detectedAt
  return exports.every(isOlder) ? newer : null
}

/** alwaysOlder returns the last version of each feed that is shut out by a date. */
export function alwaysOlder(history: VersionReads): Version[] {
  return history.olderFeeds().flatMap((feed) => {
    const [last] = history.list({ feed, all: true, limit: 1 })
    return last !== undefined && newerThanAll(history, last) !== null ? last : []
  })
}
