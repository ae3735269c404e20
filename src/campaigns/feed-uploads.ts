// Owns what the campaigns ask the history about their feeds: the last uploads, and how long an id has been missing.
// Each answer is computed from the versions, so it is always current.

import type { VersionReads } from '../history/port.ts'
import type { Version } from '../history/rows.ts'
import { HOUR } from '../lib/clock.ts'
import type { FeedUpload } from './port.ts'

/** Limits on the versions that are searched for ids: 200 are about four days with an upload each half hour. */
const MAX_PER_FEED = 200
const MAX_IN_TOTAL = 20_000
/** A version that lost more than this share of its postings or ids, and more than MIN_LOSS, looks like an accident. */
const SUSPECT_LOSS = 0.3
const MIN_LOSS = 5
/** A feed that stays small for this time is trusted again. */
const SUSPECT_FOR = 72 * HOUR

/** latestUploads returns the last upload of each feed. `isOurs` selects versions sent to the campaigns' account. */
export function latestUploads(
  history: VersionReads,
  isOurs: (version: Version) => boolean,
): FeedUpload[] {
  return history
    .list({})
    .flatMap(({ feed }) => history.lastUploaded(feed) ?? [])
    .filter(isOurs)
    .map((version) => ({
      feed: version.feed,
      path: version.path,
      version: version.id,
      uploadedAt: version.uploadedAt ?? version.detectedAt,
      postings: version.postings ?? 0,
      encoding: version.encoding,
      records: version.records,
      spool: version.spool,
      ids: version.externalCampaignIds ?? {},
    }))
}

/**
 * absencesOf returns a function that gives the wall ms of the first trusted upload without an id that these feeds
 * carried before. The function returns null while a feed carries the id, if none ever did, or if the history cannot
 * tell.
 */
export function absencesOf(
  history: VersionReads,
  feeds: readonly string[],
): (id: string) => number | null {
  const absences = new Map<string, { since: number | null; seenAt: number }>()
  for (const uploads of feeds.map((feed) => uploadsOf(history, feed, feeds.length))) {
    const trusted = trustedUploads(uploads)
    const seen = new Set<string>()
    let since: number | null = null
    for (const version of uploads.toReversed()) {
      const seenAt = version.uploadedAt ?? 0
      for (const id of Object.keys(version.externalCampaignIds ?? {})) {
        if (seen.has(id)) continue
        seen.add(id)
        if ((absences.get(id)?.seenAt ?? -1) <= seenAt) absences.set(id, { since, seenAt })
      }
      if (trusted.has(version)) since = version.uploadedAt
    }
  }
  return (id) => absences.get(id)?.since ?? null
}

/** uploadsOf returns the uploads of one of `feedCount` feeds, oldest first. */
function uploadsOf(history: VersionReads, feed: string, feedCount: number): Version[] {
  const limit = Math.min(MAX_PER_FEED, Math.ceil(MAX_IN_TOTAL / feedCount))
  return history.list({ feed, states: ['uploaded'], all: true, limit }).reverse()
}

/**
 * trustedUploads returns the uploads, oldest first, that can prove that an id is gone. A suspect upload cannot, unless
 * all uploads of the last SUSPECT_FOR were suspect.
 */
function trustedUploads(uploads: readonly Version[]): Set<Version> {
  const trusted = new Set<Version>()
  let last: Version | null = null
  let suspectSince: number | null = null
  for (const version of uploads) {
    const at = version.uploadedAt ?? 0
    if (isSuspect(version, last)) suspectSince ??= at
    else suspectSince = null
    if (suspectSince !== null && at - suspectSince < SUSPECT_FOR) continue
    suspectSince = null
    last = version
    trusted.add(version)
  }
  return trusted
}

function isSuspect(version: Version, last: Version | null): boolean {
  const ids = (of: Version) => Object.keys(of.externalCampaignIds ?? {}).length
  const lost = (before: number, now: number) =>
    before - now > MIN_LOSS && before - now > before * SUSPECT_LOSS
  if ((version.postings ?? 0) === 0) return true
  return (
    last !== null &&
    (lost(last.postings ?? 0, version.postings ?? 0) || lost(ids(last), ids(version)))
  )
}
