// Owns the pauses: while one is in force, nothing new is sent of its feed, or of all feeds.

import { isDue } from '../lib/due.ts'
import type { Connection } from './connection.ts'
import type { InForce, Pause } from './rows.ts'

/** Stands in the table for all feeds, because no feed has an empty name. */
const ALL = ''

export type Pauses = ReturnType<typeof pauses>

export function pauses(db: Connection) {
  const inForce = (now: number) =>
    db
      .rows<Pause>(
        `SELECT nullif(feed, '${ALL}') AS feed, since, until, by FROM pauses ORDER BY feed`,
      )
      .filter(({ since, until }) => until === null || !isDue(until, now, until - since))
  return {
    pauses: (now: number): InForce => {
      const all = inForce(now)
      const of = (name: string) => all.find(({ feed }) => feed === null || feed === name) ?? null
      return { all, of }
    },

    /** pause begins a pause, or changes one that is in force, which keeps its start. */
    pause: (pause: Pause): void =>
      db.joinTransaction(() => {
        const before = inForce(pause.since).find(({ feed }) => feed === pause.feed)
        const since = before?.since ?? pause.since
        const sql = 'REPLACE INTO pauses VALUES (@feed, @since, @until, @by)'
        db.run(sql, { ...pause, feed: pause.feed ?? ALL, since })
      }),

    /** resume ends the pause of a feed; null ends all pauses. */
    resume: (feed: string | null): void =>
      void db.run('DELETE FROM pauses WHERE @feed IS NULL OR feed = @feed', { feed }),
  }
}
