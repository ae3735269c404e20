// Owns what a person has paused: of all feeds, or of one, nothing new is sent until that is over.

import { isDue } from '../lib/due.ts'
import type { Connection } from './connection.ts'
import type { InForce, Pause } from './rows.ts'

/** In the table, in place of a feed; no feed has this name. */
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

    /** One that is in force goes on: it began when it began. */
    pause: (pause: Pause): void =>
      db.joinTransaction(() => {
        const before = inForce(pause.since).find(({ feed }) => feed === pause.feed)
        const since = before?.since ?? pause.since
        const sql = 'REPLACE INTO pauses VALUES (@feed, @since, @until, @by)'
        db.run(sql, { ...pause, feed: pause.feed ?? ALL, since })
      }),

    /** Ends a pause; null: all of them. */
    resume: (feed: string | null): void =>
      void db.run('DELETE FROM pauses WHERE @feed IS NULL OR feed = @feed', { feed }),
  }
}
