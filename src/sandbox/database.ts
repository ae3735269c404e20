// The SQLite database keeps campaigns, the last id, forms, objects, requests, the secret of the storage, the ports and
// the clock over a restart. A kill of the process loses no change that was answered. A power cut can damage the file.

import { rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { EXIT, errorCode, FeedsyncError } from '../lib/errors.ts'
import type { RequestDetails, SeenRequest, StoredObject } from './records.ts'
import type { SandboxCampaign } from './service/campaign.ts'

const CAMPAIGN_COLUMNS = [
  ...['id', 'accountId', 'name', 'startDate', 'endDate', 'budget', 'autoBidLevel', 'cpc', 'maxCpc'],
  ...['period', 'status', 'leads', 'paidCpaGoal', 'targeting', 'spend', 'spendMonth', 'listedFrom'],
]
const OBJECT_COLUMNS = [
  ...['key', 'bytes', 'sha256', 'md5', 'receivedAt', 'account', 'writes', 'written', 'path'],
]
const REQUEST_COLUMNS = [
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
  receivedAt INTEGER NOT NULL, account TEXT, writes INTEGER NOT NULL, written INTEGER NOT NULL,
  path TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS requests (
  n INTEGER PRIMARY KEY, side TEXT NOT NULL, method TEXT NOT NULL, route TEXT NOT NULL,
  account TEXT, key TEXT, status INTEGER, code TEXT, bytes INTEGER NOT NULL, fileBytes INTEGER,
  stored INTEGER NOT NULL, faults TEXT NOT NULL, connection INTEGER NOT NULL,
  startedAt INTEGER NOT NULL, endedAt INTEGER
) STRICT;
CREATE TABLE IF NOT EXISTS details (n INTEGER PRIMARY KEY, json TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS numbers (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS texts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
`

/** CONTENTS are the tables that `clear` empties. */
const CONTENTS = ['campaigns', 'forms', 'objects', 'requests', 'details']
const FIRST_CAMPAIGN_ID = 48001

export interface SandboxDatabase extends Disposable {
  /** db is the open database. The file for postings is attached to it as `scratch`. */
  db: Database.Database
  /** transaction runs `work` and returns its result. If `work` throws, none of its writes stay. */
  transaction<T>(work: () => T): T
  /** nextCampaignId uses up one campaign id, and returns it. No campaign has had it since the last `clear`. */
  nextCampaignId(): string
  /** nextNumber adds 1 to the number that is saved under this name, and returns it. The first result is 1. */
  nextNumber(name: string): number
  /** campaigns returns all campaigns, oldest first. */
  campaigns(): SandboxCampaign[]
  saveCampaign(campaign: SandboxCampaign): void
  /** accountOf returns the account that received the form with this object key, or null. */
  accountOf(key: string): string | null
  saveForm(key: string, account: string | null): void
  /** objects returns all objects, in the order in which their keys first arrived. */
  objects(): StoredObject[]
  saveObject(object: StoredObject): void
  deleteObjects(keys: readonly string[]): void
  /** trimRequests deletes all requests but the newest `most`. */
  trimRequests(most: number): void
  /** requests returns all requests, oldest first. */
  requests(): SeenRequest[]
  /** saveRequest saves a request. Each 100th request deletes the details of all but the newest `mostDetails`. */
  saveRequest(entry: SeenRequest, details: RequestDetails | null, mostDetails: number): void
  /** details returns the details of request `n`, or null if they were not saved or were deleted. */
  details(n: number): RequestDetails | null
  /** text returns the text that is saved under this name. If no text is saved, it first saves the result of `make`. */
  text(name: string, make: () => string): string
  /** number returns the number that is saved under this name, or 0. */
  number(name: string): number
  saveNumber(name: string, value: number): void
  /** clear deletes everything but ports, credentials of the storage and scratch file. Ids and numbers begin again. */
  clear(): void
}

/**
 * openDatabase opens or creates a database, and locks it. With the name `:memory:` it has no file and keeps nothing
 * after the close. Postings go into a scratch file beside the database, attached as `scratch`. The scratch file of an
 * earlier sandbox is removed first, and the new file at the close.
 * @throws FeedsyncError (75) if another sandbox uses the file.
 */
export function openDatabase(file: string): SandboxDatabase {
  const db = lockedDatabase(file)
  const scratch = file === ':memory:' ? file : `${file}-postings`
  if (scratch !== ':memory:') rmSync(scratch, { force: true })
  db.prepare('ATTACH ? AS scratch').run(scratch)
  db.pragma('scratch.journal_mode = MEMORY')
  db.pragma('scratch.synchronous = OFF')
  // SQLite would put its temporary files into /tmp, which can be read-only.
  db.pragma('temp_store = MEMORY')
  db.exec(SCHEMA)
  const replacing = (table: string, columns: readonly string[]) =>
    db.prepare(
      `INSERT INTO ${table} (${columns}) VALUES (${columns.map((name) => `@${name}`)})
       ON CONFLICT DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`)}`,
    )
  const putCampaign = replacing('campaigns', CAMPAIGN_COLUMNS)
  const putObject = replacing('objects', OBJECT_COLUMNS)
  const putRequest = replacing('requests', REQUEST_COLUMNS)
  const putForm = replacing('forms', ['key', 'account'])
  const putDetails = replacing('details', ['n', 'json'])
  const cutDetails = db.prepare('DELETE FROM details WHERE n <= ?')
  const formAccount = db.prepare('SELECT account FROM forms WHERE key = ?').pluck()
  const number = db.prepare('SELECT value FROM numbers WHERE name = ?').pluck()
  const putNumber = db.prepare('INSERT OR REPLACE INTO numbers VALUES (?, ?)')
  const countUp = db
    .prepare(
      `INSERT INTO numbers VALUES (@name, @first)
       ON CONFLICT DO UPDATE SET value = value + 1 RETURNING value`,
    )
    .pluck()
  const rows = <R>(sql: string, ...values: unknown[]) => db.prepare(sql).all(...values) as R[]

  return {
    db,
    transaction: (work) => db.transaction(work)(),
    nextCampaignId: () => String(countUp.get({ name: 'last campaign', first: FIRST_CAMPAIGN_ID })),
    nextNumber: (name) => countUp.get({ name, first: 1 }) as number,
    campaigns: () =>
      rows<SandboxCampaign & { targeting: string | null }>(
        'SELECT * FROM campaigns ORDER BY id',
      ).map((row) => ({
        ...row,
        id: String(row.id),
        targeting: row.targeting === null ? null : JSON.parse(row.targeting),
      })),
    saveCampaign(campaign) {
      const { targeting } = campaign
      putCampaign.run({
        ...campaign,
        targeting: targeting === null ? null : JSON.stringify(targeting),
      })
    },
    accountOf: (key) => (formAccount.get(key) ?? null) as string | null,
    saveForm: (key, account) => void putForm.run({ key, account }),
    objects: () => rows<StoredObject>('SELECT * FROM objects ORDER BY rowid'),
    saveObject: (object) => void putObject.run(object),
    deleteObjects(keys) {
      const keyList = JSON.stringify(keys)
      db.prepare('DELETE FROM objects WHERE key IN (SELECT value FROM json_each(?))').run(keyList)
    },
    trimRequests(most) {
      db.prepare('DELETE FROM requests WHERE n <= (SELECT max(n) FROM requests) - ?').run(most)
    },
    requests: () =>
      rows<SeenRequest & { faults: string }>('SELECT * FROM requests ORDER BY n').map((row) => ({
        ...{ ...row, held: false, stored: Boolean(row.stored) },
        faults: JSON.parse(row.faults),
      })),
    saveRequest(entry, details, mostDetails) {
      const { stored, faults, n } = entry
      putRequest.run({ ...entry, stored: Number(stored), faults: JSON.stringify(faults) })
      if (details !== null) putDetails.run({ n, json: JSON.stringify(details) })
      if (n % 100 === 0) cutDetails.run(n - mostDetails)
    },
    details(n) {
      const json = db.prepare('SELECT json FROM details WHERE n = ?').pluck().get(n)
      return json === undefined ? null : JSON.parse(String(json))
    },
    text(name, make) {
      db.prepare('INSERT OR IGNORE INTO texts VALUES (?, ?)').run(name, make())
      return String(db.prepare('SELECT value FROM texts WHERE name = ?').pluck().get(name))
    },
    number: (name) => (number.get(name) ?? 0) as number,
    saveNumber: (name, value) => void putNumber.run(name, value),
    clear: db.transaction(() => {
      for (const table of CONTENTS) db.exec(`DELETE FROM ${table}`)
      db.exec(`DELETE FROM numbers WHERE name NOT LIKE 'port of %'`)
    }),
    [Symbol.dispose]: () => {
      db.close()
      if (scratch !== ':memory:') rmSync(scratch, { force: true })
    },
  }
}

/** lockedDatabase opens a database, and locks it until the close. Throws FeedsyncError (75) if it is locked already. */
function lockedDatabase(file: string): Database.Database {
  const db = new Database(file, { timeout: 0 })
  try {
    db.pragma('locking_mode = EXCLUSIVE')
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = OFF')
    db.exec('BEGIN IMMEDIATE; COMMIT')
    return db
  } catch (error) {
    db.close()
    if (errorCode(error)?.startsWith('SQLITE_BUSY') !== true) throw error
    throw new FeedsyncError(`another sandbox uses ${file}`, {
      hint: 'stop the other sandbox, or choose another directory with --dir',
      exitCode: EXIT.temporary,
    })
  }
}
