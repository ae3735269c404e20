// Owns which versions are due, and until when the others wait.

import { RETRIED } from '../domain/reason-codes.ts'
import { LONGEST_ATTEMPT_WAIT_MS, latestLegal } from '../lib/due.ts'
import type { Connection } from './connection.ts'
import type { Reason, Version } from './rows.ts'
import type { VersionReads } from './version-reads.ts'
import { reasonFields } from './version-row.ts'

const NO_LIMIT = -1
const NO_FEEDS: ReadonlySet<string> = new Set()

const NOT_OF_ACCOUNTS =
  'AND NOT EXISTS (SELECT 1 FROM json_each(@accounts) WHERE value IS v.account)'

/** Except names the feeds and accounts whose versions are left out. */
interface Except {
  feeds?: Pick<ReadonlySet<string>, 'has' | 'size'>
  accounts?: readonly Version['account'][]
}

export type Waits = ReturnType<typeof waits>

export function waits(db: Connection, { version }: VersionReads) {
  return {
    /**
     * due returns the queued versions that are due (lib/due.ts), at most one of each feed. Feeds that are uploading are
     * left out, and also the feeds and accounts of `Except`. The version with the fewest attempts comes first, so that
     * a version that always fails does not take probes from the others. Of several such versions, the oldest is first.
     */
    due: (
      now: number,
      limit?: number,
      { accounts = [], feeds = NO_FEEDS }: Except = {},
    ): Version[] =>
      db
        // Only the oldest version of a feed is due, because it would overwrite a newer version that was sent before it.
        .rows<{ id: number; feed: string }>(
          `SELECT v.id, v.feed FROM versions v INDEXED BY versions_queued
             WHERE v.state = 'queued'
               AND (v.next_attempt_at IS NULL OR v.next_attempt_at <= @now OR v.next_attempt_at > @latest)
               ${accounts.length === 0 ? '' : NOT_OF_ACCOUNTS}
               AND NOT EXISTS (
                 SELECT 1 FROM versions o WHERE o.feed = v.feed AND o.state IN ('queued', 'uploading')
                   AND (o.state = 'uploading' OR o.id < v.id))
             ORDER BY v.attempts, v.id LIMIT @limit`,
          {
            now,
            latest: latestLegal(now, LONGEST_ATTEMPT_WAIT_MS),
            ...(accounts.length === 0 ? {} : { accounts: JSON.stringify(accounts) }),
            limit: limit === undefined ? NO_LIMIT : limit + feeds.size,
          },
        )
        .filter(({ feed }) => !feeds.has(feed))
        .slice(0, limit)
        .flatMap(({ id }) => version(id) ?? []),

    /**
     * postpone lets all due versions of these accounts wait until `until` (wall ms) for this reason. A version that a
     * person retried does not wait.
     */
    postpone: (
      accounts: readonly Version['account'][] | 'all',
      { now, until, reason }: { now: number; until: number; reason: Reason },
    ): void =>
      void db.run(
        `UPDATE versions INDEXED BY versions_queued
           SET next_attempt_at = @until, reason = @reason, reason_code = @reasonCode, hint = @hint,
             line = @line, "column" = @column
           WHERE state = 'queued' AND reason_code IS NOT '${RETRIED}'
             AND (next_attempt_at IS NULL OR next_attempt_at <= @now OR next_attempt_at > @latest)
             AND (@accounts IS NULL OR EXISTS (SELECT 1 FROM json_each(@accounts) WHERE value IS account))`,
        {
          ...{ now, until, ...reasonFields(reason) },
          latest: latestLegal(now, LONGEST_ATTEMPT_WAIT_MS),
          accounts: accounts === 'all' ? null : JSON.stringify(accounts),
        },
      ),

    /** moveWaits moves the times of all next attempts by `ms`, after somebody set the wall clock by that much. */
    moveWaits: (ms: number) =>
      void db.run(
        `UPDATE versions INDEXED BY versions_next_attempt SET next_attempt_at = next_attempt_at + ?
           WHERE state = 'queued' AND next_attempt_at IS NOT NULL`,
        ms,
      ),

    /**
     * shortenWaits lets versions whose last attempt has a time after `now` (wall ms) wait as long, but from `now` on.
     */
    shortenWaits: (now: number) =>
      void db.run(
        `WITH tried AS (
           SELECT v.id, (SELECT max(ended_at) FROM attempts WHERE version = v.id) AS at
             FROM versions v INDEXED BY versions_next_attempt
             WHERE v.state = 'queued' AND v.next_attempt_at > @now)
         UPDATE versions SET next_attempt_at = next_attempt_at - tried.at + @now
           FROM tried WHERE versions.id = tried.id AND tried.at > @now`,
        { now },
      ),

    /** askRetry records that a person wants a version to be tried at once. */
    askRetry: (id: number, at: number) =>
      void db.run(
        'UPDATE versions SET retries = retries + 1, retry_asked_at = ? WHERE id = ?',
        at,
        id,
      ),

    /** takeRetried returns the ids of the versions that a person wants to be tried at once, and forgets the wish. */
    takeRetried: (): number[] => {
      const asked = () =>
        db.values<number>(
          'SELECT id FROM versions WHERE retry_asked_at IS NOT NULL ORDER BY retry_asked_at, id',
        )
      if (asked().length === 0) return []
      return db.joinTransaction(() => {
        const ids = asked()
        db.run('UPDATE versions SET retry_asked_at = NULL WHERE retry_asked_at IS NOT NULL')
        return ids
      })
    },

    /** makeDue makes all versions due now that are queued for later with one of these reason codes. */
    makeDue: (codes: readonly string[]) =>
      void db.run(
        `UPDATE versions SET next_attempt_at = NULL
           WHERE state = 'queued' AND next_attempt_at IS NOT NULL
             AND reason_code IN (SELECT value FROM json_each(?))`,
        JSON.stringify(codes),
      ),

    /**
     * expired returns the paths of files that have been incomplete for `afterMs`, or since a time after `now` (wall
     * ms), which a wrong clock stored (lib/due.ts).
     */
    expired: (now: number, afterMs: number) =>
      db.values<string>(
        `SELECT path FROM versions INDEXED BY versions_incomplete
           WHERE state = 'incomplete' AND incomplete_since <= ?
         UNION ALL SELECT path FROM versions INDEXED BY versions_incomplete
           WHERE state = 'incomplete' AND incomplete_since > ?`,
        now - afterMs,
        latestLegal(now, 0),
      ),

    /**
     * nextDueAt returns the wall ms after `now` at which the next queued version is due; null if none waits for a time.
     */
    nextDueAt: (now: number) =>
      // Without INDEXED BY, SQLite uses the index on the state alone and reads all waiting versions each time.
      db.value<number>(
        `SELECT min(next_attempt_at) FROM versions INDEXED BY versions_next_attempt
           WHERE state = 'queued' AND next_attempt_at > ?`,
        now,
      ),
  }
}
