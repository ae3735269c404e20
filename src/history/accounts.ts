// Owns what the history knows of an account of the service: the versions of its feeds that the service has or gets, and
// the word of a person that the service keeps all of its feeds.

import type { Connection } from './connection.ts'
import type { Version } from './rows.ts'
import { VERSION_FIELDS, type VersionRow, versionOf } from './version-row.ts'

/** KeepsAll is the word of a person: `by` said at `since` (wall ms) that the service keeps all feeds of an account. */
export interface KeepsAll {
  by: string
  since: number
}

/** Beside says which feed of which account asks about the others; `after` is the last version id of another service. */
export interface Beside extends Pick<Version, 'account' | 'feed'> {
  after: number
  /** Only feeds whose names look alike (lib/likeness.ts); null: all. */
  likeness: string | null
}

/** Rival is a version of another feed of the account. */
export interface Rival extends Pick<Version, 'id' | 'feed' | 'state' | 'postings'> {
  /** It is stored, is being sent or was approved by a person, or storage may have it. Otherwise it waits. */
  isSettled: boolean
}

/** What the indexes versions_rivals, versions_alike and versions_at have, word for word. */
const IS_RIVAL = `(state IN ('queued', 'uploading', 'uploaded') OR approved = 1)`

/** What waits is sent to the present service, whenever it came. */
const IS_HERE = `(state IN ('queued', 'uploading') OR id > @after)`

export type Accounts = ReturnType<typeof accounts>

export function accounts(db: Connection) {
  /** first returns the first version of another feed that meets a condition, in two searches of the index. */
  const first = ({ likeness, ...beside }: Beside, condition: string): Version | null => {
    const source =
      likeness === null
        ? 'versions v INDEXED BY versions_rivals WHERE account IS @account'
        : 'versions v INDEXED BY versions_alike WHERE account IS @account AND likeness = @likeness'
    const among = (feeds: string) =>
      `SELECT * FROM (SELECT ${VERSION_FIELDS} FROM ${source} AND feed ${feeds} @feed
         AND ${IS_RIVAL} AND ${condition} AND ${IS_HERE} LIMIT 1)`
    const row = db.row<VersionRow>(`${among('<')} UNION ALL ${among('>')} LIMIT 1`, {
      ...beside,
      ...(likeness === null ? {} : { likeness }),
    })
    return row && versionOf(row)
  }

  return {
    /**
     * rivals returns versions of other feeds of the account, at most one of each kind: one that is stored, is being sent
     * or was approved by a person; else the queued one with the lowest id; and one that storage may have.
     */
    rivals: (beside: Beside): Rival[] => {
      const settled = first(beside, `(state <> 'queued' OR approved = 1)`)
      const { account, after, feed, likeness } = beside
      const alike = likeness === null ? '' : 'AND v.likeness = @likeness'
      const values = { account, feed, ...(likeness === null ? {} : { likeness }) }
      const index = likeness === null ? 'versions_rivals' : 'versions_alike'
      const queued = `SELECT ${VERSION_FIELDS} FROM versions v INDEXED BY ${index}
        WHERE account IS @account ${alike} AND feed <> @feed AND ${IS_RIVAL} AND state = 'queued'
        ORDER BY id LIMIT 1`
      const maybe = `SELECT ${VERSION_FIELDS} FROM attempts a INDEXED BY attempts_unknown
        CROSS JOIN versions v ON v.id = a.version
        WHERE a.outcome = 'unknown' AND v.account IS @account ${alike} AND v.feed <> @feed
          AND v.id > @after LIMIT 1`
      const waiting = settled === null ? db.row<VersionRow>(queued, values) : null
      const maybeStored = db.row<VersionRow>(maybe, { ...values, after })
      return [settled, maybeStored, waiting].flatMap((row) => {
        if (row === null) return []
        const { feed, id, postings, state } = row
        return [{ feed, id, postings, state, isSettled: row !== waiting }]
      })
    },

    /** alike returns versions of other feeds whose names look alike, at most 50, the newest first. */
    alike: ({ account, after, feed, likeness }: Beside & { likeness: string }): Version[] =>
      db
        .rows<VersionRow>(
          `SELECT ${VERSION_FIELDS} FROM versions v INDEXED BY versions_alike
             WHERE account IS ? AND likeness = ? AND feed <> ? AND ${IS_RIVAL} AND ${IS_HERE}
             ORDER BY id DESC LIMIT 50`.replace('@after', '?'),
          ...[account, likeness, feed, after],
        )
        .map(versionOf),

    /** feedBefore returns the other feed that the file at a path was last, as far as the service has or gets it. */
    feedBefore: ({ feed, path }: Pick<Version, 'feed' | 'path'>) =>
      db.value<string>(
        `SELECT feed FROM versions INDEXED BY versions_at
           WHERE path = ? AND feed <> ? AND ${IS_RIVAL} ORDER BY id DESC LIMIT 1`,
        path,
        feed,
      ),

    /** keepsAll returns who said that the service keeps all feeds of an account, or null. */
    keepsAll: (account: Version['account']) =>
      db.row<KeepsAll>(
        'SELECT by, keeps_all_since AS since FROM accounts WHERE name = ?',
        account ?? '',
      ),

    /** setKeepsAll records the word of a person. */
    setKeepsAll: (account: Version['account'], { by, since }: KeepsAll): void =>
      void db.run('REPLACE INTO accounts VALUES (?, ?, ?)', account ?? '', since, by),

    /** forgetAccounts forgets the word about all accounts, because they are those of another service now. */
    forgetAccounts: (): void => void db.run('DELETE FROM accounts'),
  }
}
