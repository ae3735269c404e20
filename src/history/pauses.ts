// Owns the pauses: while a pause is in force, nothing new is sent of its feed, or of all feeds. A pause with an end
// keeps how many ms are left, so that nobody who sets the clock ends the pause or makes it last for days.

import type { Connection } from './connection.ts'
import type { InForce, Pause } from './rows.ts'

/** The name that stands for all feeds in the table. No feed has an empty name. */
const ALL = ''

/**
 * Row is a pause as it is stored. At `seenAt` (wall ms), `leftMs` was left of the pause; null if the pause lasts until
 * a person resumes.
 */
interface Row {
  feed: string | null
  since: number
  by: string
  leftMs: number | null
  seenAt: number
}

export function pauses(db: Connection) {
  const rows = () =>
    db.rows<Row>(
      `SELECT nullif(feed, '${ALL}') AS feed, since, by, left_ms AS leftMs, seen_at AS seenAt FROM pauses ORDER BY feed`,
    )
  const inForce = (now: number): Pause[] =>
    rows().flatMap(({ by, feed, leftMs, seenAt, since }): Pause[] => {
      if (leftMs === null) return [{ feed, since, by, until: null }]
      // A clock that somebody set back after `seenAt` must not lengthen the pause.
      const until = Math.min(seenAt, now) + leftMs
      return until > now ? [{ feed, since, by, until }] : []
    })
  return {
    pauses: (now: number): InForce => {
      const all = inForce(now)
      const of = (name: string) => all.find(({ feed }) => feed === null || feed === name) ?? null
      return { all, of }
    },

    /** pause begins a pause. A pause of the same feed that is in force gets the new end and keeps its start. */
    pause: ({ by, feed, since: now, until }: Pause): void =>
      db.joinTransaction(() => {
        const before = inForce(now).find((each) => each.feed === feed)
        const leftMs = until === null ? null : until - now
        const sql = 'REPLACE INTO pauses VALUES (@feed, @since, @by, @leftMs, @now)'
        db.run(sql, { feed: feed ?? ALL, since: before?.since ?? now, by, leftMs, now })
      }),

    /** resume ends the pause of a feed; null ends all pauses. */
    resume: (feed: string | null): void =>
      void db.run('DELETE FROM pauses WHERE @feed IS NULL OR feed = @feed', { feed }),

    /**
     * countPauses records what is left of each pause with an end, and removes the pauses that are over. `passedMs`
     * returns the ms that have passed since a wall ms, by the monotonic clock.
     */
    countPauses: (now: number, passedMs: (seenAt: number) => number): void =>
      db.joinTransaction(() => {
        const sql = 'UPDATE pauses SET left_ms = left_ms - ?, seen_at = ? WHERE feed = ?'
        for (const { feed, leftMs, seenAt } of rows())
          if (leftMs !== null) db.run(sql, Math.round(passedMs(seenAt)), now, feed ?? ALL)
        db.run('DELETE FROM pauses WHERE left_ms <= 0')
      }),
  }
}
