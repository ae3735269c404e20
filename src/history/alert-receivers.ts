// Owns what the receivers of alerts know, so that a restart neither repeats nor loses an alert.

import type { AlertEvent } from '../domain/alerts.ts'
import type { Connection } from './connection.ts'

/** ToldAlert is a problem of which a receiver was told the beginning, and not yet the end. */
export interface ToldAlert {
  /** Identifies the occurrence: a new mark is a new occurrence. */
  mark: string
  event: AlertEvent
  /** null if the problem concerns no single feed. */
  feed: string | null
  /** null if the problem concerns no single campaign. */
  campaign: string | null
}

export interface KnownToReceiver {
  /** The problems by their keys, in the order in which the receiver was told of them. */
  told: ReadonlyMap<string, ToldAlert>
  /** Number of messages sent to this receiver. */
  sequence: number
}

export function alertReceivers(db: Connection) {
  const toldTo = (receiver: string) => {
    const sql =
      'SELECT key, mark, event, feed, campaign FROM told_alerts WHERE receiver = ? ORDER BY id'
    const rows = db.rows<ToldAlert & { key: string }>(sql, receiver)
    return new Map(rows.map(({ key, ...told }) => [key, told]))
  }
  return {
    knownToReceiver: (receiver: string): KnownToReceiver => ({
      told: toldTo(receiver),
      sequence:
        db.value<number>('SELECT sequence FROM alert_receivers WHERE id = ?', receiver) ?? 0,
    }),

    keepKnownToReceiver: (receiver: string, { sequence, told }: KnownToReceiver): void =>
      db.joinTransaction(() => {
        const sql = `INSERT INTO alert_receivers VALUES (?, ?)
           ON CONFLICT (id) DO UPDATE SET sequence = excluded.sequence`
        db.run(sql, receiver, sequence)
        const before = toldTo(receiver)
        for (const key of before.keys())
          if (!told.has(key))
            db.run('DELETE FROM told_alerts WHERE receiver = ? AND key = ?', receiver, key)
        for (const [key, alert] of told)
          if (before.get(key)?.mark !== alert.mark)
            db.run(
              `INSERT INTO told_alerts (receiver, key, mark, event, feed, campaign)
                 VALUES (@receiver, @key, @mark, @event, @feed, @campaign)
                 ON CONFLICT (receiver, key) DO UPDATE SET mark = excluded.mark`,
              { receiver, key, ...alert },
            )
      }),

    forgetReceivers: (except: readonly string[]): void => {
      const known = db.values<string>('SELECT id FROM alert_receivers')
      const old = known.filter((id) => !except.includes(id))
      if (old.length > 0)
        db.joinTransaction(() => {
          for (const id of old) db.run('DELETE FROM alert_receivers WHERE id = ?', id)
        })
    },
  }
}
