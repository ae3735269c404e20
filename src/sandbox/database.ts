// The SQLite database keeps campaigns, the last id, forms, objects, requests, the secret of the storage and the ports
// over a restart. A kill loses no answered request; a power cut may lose the latest ones.

import Database from 'better-sqlite3'
import type { SandboxCampaign } from './campaign.ts'
import type { Side } from './fault-types.ts'
import type { SeenRequest, StoredObject } from './records.ts'

const CAMPAIGN = [
  ...['id', 'accountId', 'name', 'startDate', 'endDate', 'budget', 'autoBidLevel', 'cpc', 'maxCpc'],
  ...['period', 'status', 'leads', 'paidCpaGoal', 'targeting', 'spend', 'spendMonth', 'listedFrom'],
]
const OBJECT = ['key', 'bytes', 'sha256', 'md5', 'receivedAt', 'account', 'writes', 'path']
const REQUEST = [
  ...['n', 'side', 'method', 'route', 'account', 'key', 'status', 'code', 'bytes', 'fileBytes'],
  ...['stored', 'faults', 'connection', 'startedAt', 'endedAt'],
]

const SCHEMA = `
CREATE TABLE IF NOT EXISTS campaigns (
  id INTEGER PRIMARY KEY, accountId TEXT NOT NULL, name TEXT, startDate TEXT NOT NULL, endDate TEXT,
  budget REAL, autoBidLevel TEXT, cpc REAL, maxCpc REAL, period INTEGER, status INTEGER NOT NULL,
  leads INTEGER NOT NULL, paidCpaGoal REAL, targeting TEXT, spend REAL NOT NULL,
  spendMonth TEXT NOT NULL, listedFrom INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS forms (key TEXT PRIMARY KEY, account TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS objects (
  key TEXT PRIMARY KEY, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL, md5 TEXT NOT NULL,
  receivedAt INTEGER NOT NULL, account TEXT, writes INTEGER NOT NULL, path TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS requests (
  n INTEGER PRIMARY KEY, side TEXT NOT NULL, method TEXT NOT NULL, route TEXT NOT NULL,
  account TEXT, key TEXT, status INTEGER, code TEXT, bytes INTEGER NOT NULL, fileBytes INTEGER,
  stored INTEGER NOT NULL, faults TEXT NOT NULL, connection INTEGER NOT NULL,
  startedAt INTEGER NOT NULL, endedAt INTEGER
) STRICT;
CREATE TABLE IF NOT EXISTS numbers (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS texts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
INSERT OR IGNORE INTO numbers VALUES ('last campaign', 48000);
`

export type SandboxDatabase = ReturnType<typeof openDatabase>

/** openDatabase opens or creates a database. The file `:memory:` keeps nothing after the close. */
export function openDatabase(file: string) {
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = OFF')
  db.exec(SCHEMA)
  const replacing = (table: string, columns: readonly string[]) =>
    db.prepare(
      `INSERT INTO ${table} (${columns}) VALUES (${columns.map((name) => `@${name}`)})
       ON CONFLICT DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`)}`,
    )
  const putCampaign = replacing('campaigns', CAMPAIGN)
  const putObject = replacing('objects', OBJECT)
  const putRequest = replacing('requests', REQUEST)
  const putForm = replacing('forms', ['key', 'account'])
  const formAccount = db.prepare('SELECT account FROM forms WHERE key = ?').pluck()
  const nextId = db
    .prepare(`UPDATE numbers SET value = value + 1 WHERE name = 'last campaign' RETURNING value`)
    .pluck()
  const number = db.prepare('SELECT value FROM numbers WHERE name = ?').pluck()
  const putNumber = db.prepare('INSERT OR REPLACE INTO numbers VALUES (?, ?)')
  const rows = <R>(sql: string, ...values: unknown[]) => db.prepare(sql).all(...values) as R[]

  return {
    db,

    /** nextId returns a campaign id that no campaign has had before. */
    nextId: () => String(nextId.get()),

    /** campaigns returns all campaigns, oldest first. */
    campaigns: (): SandboxCampaign[] =>
      rows<SandboxCampaign & { targeting: string | null }>(
        'SELECT * FROM campaigns ORDER BY id',
      ).map((row) => ({
        ...row,
        id: String(row.id),
        targeting: row.targeting === null ? null : JSON.parse(row.targeting),
      })),

    saveCampaign(campaign: SandboxCampaign): void {
      const { targeting } = campaign
      putCampaign.run({
        ...campaign,
        targeting: targeting === null ? null : JSON.stringify(targeting),
      })
    },

    /** accountOf returns the account that received the form with this object key, or null. */
    accountOf: (key: string) => (formAccount.get(key) ?? null) as string | null,

    saveForm: (key: string, account: string | null) => void putForm.run({ key, account }),

    /** objects returns all objects, in the order in which their keys first arrived. */
    objects: () => rows<StoredObject>('SELECT * FROM objects ORDER BY rowid'),

    saveObject: (object: StoredObject) => void putObject.run(object),

    /** requests returns the newest `most` requests, oldest first, and deletes the others. */
    requests(most: number): SeenRequest[] {
      db.prepare('DELETE FROM requests WHERE n <= (SELECT max(n) FROM requests) - ?').run(most)
      return rows<SeenRequest & { faults: string }>('SELECT * FROM requests ORDER BY n').map(
        (row) => ({
          ...{ ...row, held: false, stored: Boolean(row.stored) },
          faults: JSON.parse(row.faults),
        }),
      )
    },

    saveRequest(entry: SeenRequest): void {
      const { stored, faults } = entry
      putRequest.run({ ...entry, stored: Number(stored), faults: JSON.stringify(faults) })
    },

    /** text returns the saved text of this name. The first call makes and saves it. */
    text(name: string, make: () => string): string {
      db.prepare('INSERT OR IGNORE INTO texts VALUES (?, ?)').run(name, make())
      return String(db.prepare('SELECT value FROM texts WHERE name = ?').pluck().get(name))
    },

    /** port returns the port that this side used last, or 0 before the first start. */
    port: (side: Side) => (number.get(`port of ${side}`) ?? 0) as number,

    savePort: (side: Side, port: number) => void putNumber.run(`port of ${side}`, port),

    [Symbol.dispose]: () => void db.close(),
  }
}
