// Owns what the history knows of an account of the service: the versions of its feeds that the service has or gets, and
// whether a person said that the service keeps all feeds of the account.

import type { Connection } from './connection.ts'
import type { Version } from './rows.ts'
import { VERSION_FIELDS, type VersionRow, versionOf } from './version-row.ts'

/** KeepsAll records that the person `by` said at `since` (wall ms) that the service keeps all feeds of an account. */
interface KeepsAll {
  by: string
  since: number
}

/** Beside says which feed of which account asks about the other feeds. */
interface Beside extends Pick<Version, 'account' | 'feed'> {
  /** Only feeds whose names look alike (domain/likeness.ts); null means all. */
  likeness: string | null
}

/** Rival is a version of another feed of the account. */
export interface Rival extends Pick<Version, 'id' | 'feed' | 'state' | 'postings'> {
  /** False if the version waits, no person approved it, and storage cannot have it. */
  goesFirst: boolean
}

/** IS_RIVAL is, word for word, the WHERE clause of the indexes versions_rivals and versions_alike. */
export const IS_RIVAL = `(state IN ('queued', 'uploading', 'uploaded') OR approved = 1)`

/** IS_HERE selects what the current service has or gets. A version that waits goes there, however old it is. */
const IS_HERE = `(state IN ('queued', 'uploading') OR id > (SELECT other_service_up_to FROM settings))`
const GOES_FIRST = `(state <> 'queued' OR approved = 1)`

/** OF_ACCOUNT selects the versions of an account, and ALIKE only the versions whose feeds' names look alike. */
const OF_ACCOUNT = 'versions v INDEXED BY versions_rivals WHERE account IS @account'
const ALIKE =
  'versions v INDEXED BY versions_alike WHERE account IS @account AND likeness = @likeness'

const SELECT = `SELECT ${VERSION_FIELDS} FROM`

/**
 * firstIn returns the SQL that finds one version that goes first. It searches the index twice, for the feeds whose
 * names sort before and after `@feed`, because an index cannot search for `<>`.
 */
function firstIn(source: string): string {
  const among = (order: '<' | '>') => `SELECT * FROM (${SELECT} ${source} AND feed ${order} @feed
    AND ${IS_RIVAL} AND ${GOES_FIRST} AND ${IS_HERE} LIMIT 1)`
  return `${among('<')} UNION ALL ${among('>')} LIMIT 1`
}

const firstQueuedIn = (source: string) => `${SELECT} ${source} AND feed <> @feed
  AND ${IS_RIVAL} AND state = 'queued' ORDER BY id LIMIT 1`

const maybeStored = (alike: string) => `${SELECT} attempts a INDEXED BY attempts_unknown
  CROSS JOIN versions v ON v.id = a.version
  WHERE a.outcome = 'unknown' AND v.account IS @account AND v.feed <> @feed
    AND v.id > (SELECT other_service_up_to FROM settings) ${alike} LIMIT 1`

const SEARCHES = {
  all: {
    first: firstIn(OF_ACCOUNT),
    queued: firstQueuedIn(OF_ACCOUNT),
    maybe: maybeStored(''),
  },
  alike: {
    first: firstIn(ALIKE),
    queued: firstQueuedIn(ALIKE),
    maybe: maybeStored('AND v.likeness = @likeness'),
  },
}

export type Accounts = ReturnType<typeof accounts>

export function accounts(db: Connection) {
  return {
    /**
     * rivals returns up to three versions of other feeds of the account: a version that is stored, is being sent or was
     * approved by a person; a version that storage might have; and, without a version of the first kind, the queued
     * version with the lowest id.
     */
    rivals: ({ account, feed, likeness }: Beside): Rival[] => {
      const search = likeness === null ? SEARCHES.all : SEARCHES.alike
      const values = { account, feed, ...(likeness !== null && { likeness }) }
      const first = db.row<VersionRow>(search.first, values)
      const maybe = db.row<VersionRow>(search.maybe, values)
      const queued = first === null ? db.row<VersionRow>(search.queued, values) : null
      return [first, maybe, queued].flatMap((row) => {
        if (row === null) return []
        const { feed: other, id, postings, state } = row
        return [{ feed: other, id, postings, state, goesFirst: row !== queued }]
      })
    },

    /** alike returns the newest 50 versions, up to the id `upTo`, of other feeds whose names look alike. */
    alike: (asked: Beside & { likeness: string; upTo: number }): Version[] =>
      db
        .rows<VersionRow>(
          `${SELECT} ${ALIKE} AND feed <> @feed AND ${IS_RIVAL} AND ${IS_HERE}
             AND id <= @upTo ORDER BY id DESC LIMIT 50`,
          asked,
        )
        .map(versionOf),

    /** feedBefore returns the other feed whose version from this path was last queued, sent or approved, or null. */
    feedBefore: ({ feed, path }: Pick<Version, 'feed' | 'path'>) =>
      db.value<string>(
        `SELECT feed FROM versions INDEXED BY versions_at
           WHERE path = ? AND sha256 IS NOT NULL AND feed <> ? AND ${IS_RIVAL}
           ORDER BY id DESC LIMIT 1`,
        path,
        feed,
      ),

    /** whoSaidKeepsAll returns who said that the service keeps all feeds of an account, or null. */
    whoSaidKeepsAll: (account: Version['account']) =>
      db.row<KeepsAll>(
        'SELECT by, keeps_all_since AS since FROM accounts WHERE name = ?',
        account ?? '',
      ),

    /** setKeepsAll records that a person said that the service keeps all feeds of an account. */
    setKeepsAll: (account: Version['account'], { by, since }: KeepsAll): void =>
      void db.run('REPLACE INTO accounts VALUES (?, ?, ?)', account ?? '', since, by),

    /** forgetAccounts forgets what people said about all accounts, because another service has other accounts. */
    forgetAccounts: (): void => void db.run('DELETE FROM accounts'),
  }
}
