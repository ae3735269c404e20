// Owns which earlier versions a new one of the feed is compared with before it is sent: what the service may
// have of the feed, and what the vendor meant last. A version that is held, rejected or discarded is neither.

import type { Connection } from './connection.ts'
import type { Changes, Version, VersionReads } from './port.ts'
import { ACCEPTED } from './states.ts'

export type Baselines = Pick<VersionReads, 'baselines' | 'confirmed' | 'turnovers'>

/** Uploads whose turnover is remembered: a month of daily feeds, and two days of hourly ones. */
const TURNOVERS = 50

export function baselines(
  db: Connection,
  { lastUploaded, list, version }: Pick<VersionReads, 'lastUploaded' | 'list' | 'version'>,
): Baselines {
  const approved = db.query<[feed: string, except: number], { id: number | null }>(
    `SELECT max(id) AS id FROM versions INDEXED BY versions_approved
       WHERE approved = 1 AND feed = ? AND id <> ?`,
  )
  // How an attempt ended is not known, so storage may have it. Of several the largest: any of them may be the one.
  const maybeStored = db.query<[feed: string, after: number, except: number], { id: number }>(
    `SELECT v.id FROM versions v INDEXED BY versions_feed
       WHERE v.feed = ? AND v.id > ? AND v.id <> ?
         AND EXISTS (SELECT 1 FROM attempts a WHERE a.version = v.id AND a.outcome = 'unknown')
       ORDER BY v.postings DESC LIMIT 1`,
  )
  const turnovers = db.query<[feed: string, limit: number], { changes: string; postings: number }>(
    `SELECT changes, postings FROM versions INDEXED BY versions_feed_state
       WHERE feed = ? AND state = 'uploaded' AND changes IS NOT NULL ORDER BY id DESC LIMIT ?`,
  )

  const confirmed = (feed: string, except: number): Version | null => {
    const uploaded = lastUploaded(feed)
    const { id } = approved.get(feed, except) ?? { id: null }
    return id === null || id <= (uploaded?.id ?? 0) ? uploaded : version(id)
  }

  return {
    confirmed,
    baselines: (feed, except = 0) => {
      const last = confirmed(feed, except)
      const accepted = list({ feed, states: ACCEPTED, all: true }).find(({ id }) => id !== except)
      const maybe = maybeStored.get(feed, last?.id ?? 0, except)
      const all = [last, accepted ?? null, maybe ? version(maybe.id) : null]
      const found = all.filter((each) => each !== null)
      return found.filter(({ id }, n) => found.findIndex((other) => other.id === id) === n)
    },
    turnovers: (feed) =>
      turnovers.all(feed, TURNOVERS).map(({ changes, postings }) => {
        const { added, removed } = JSON.parse(changes) as Changes
        return removed / Math.max(1, postings - added + removed)
      }),
  }
}
