// What the history tells the campaigns of their feeds: what was uploaded last, and since when an id is
// missing. Worked out of the versions whenever it is asked for, so that nothing of it can be out of date.

import type { FeedUpload } from '../campaigns/port.ts'
import { HOUR } from '../lib/clock.ts'
import type { VersionReads } from './port.ts'
import type { Version } from './rows.ts'

/** Versions that are looked through for ids: of a feed some days, with an upload each half hour; of all. */
const MAX_PER_FEED = 200
const MAX_IN_TOTAL = 20_000
/** A feed that lost more than this of its postings or ids, and more than a few, looks like an accident. */
const SUSPECT_LOSS = 0.3
const MIN_LOSS = 5
/** After this time a small feed is taken for the truth. */
const SUSPECT_FOR = 72 * HOUR

/** The last upload of each feed; `isOurs`: whether a version went to the account of the campaigns. */
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

/** Wall ms since when these feeds do not carry an id that one of them carried; null: they do, never did, or nobody knows. */
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

/** Oldest first. */
function uploadsOf(history: VersionReads, feed: string, feeds: number): Version[] {
  const limit = Math.min(MAX_PER_FEED, Math.ceil(MAX_IN_TOTAL / feeds))
  return history.list({ feed, states: ['uploaded'], all: true, limit }).reverse()
}

/** Those that are not suspect: a suspect feed proves no absence, unless it stays so. */
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
