// Owns the rows about campaigns in the history's database: which campaign belongs to which entry, every write request,
// and the last look.

import { type Connection, openWritable, type Parameter } from '../history/connection.ts'
import { migrate, openReader } from '../history/migrations.ts'
import { stateMark } from '../history/state-mark.ts'
import type { CampaignRun } from '../ops/campaigns/run.ts'
import type { Binding, CampaignReader, CampaignStore, CampaignWrite } from './port.ts'

interface CampaignStoreOptions {
  /** Path of the database. */
  file: string
  /** Address and identity. Rows of other accounts are not visible. */
  account: string
  /** Wall ms. */
  now?: () => number
}

/** openCampaignStore opens the store for writing, with or without a running daemon. Throws `FeedsyncError`. */
export function openCampaignStore(options: CampaignStoreOptions): CampaignStore {
  using opening = new DisposableStack()
  const connection = opening.use(openWritable(options.file))
  migrate(connection)
  const store = { ...reads(connection, options), ...writes(connection, options) }
  opening.move()
  return store
}

/** openCampaignReader opens the store for reading. Returns null when there is no database. Throws `FeedsyncError`. */
export function openCampaignReader(
  options: CampaignStoreOptions,
): (CampaignReader & Disposable) | null {
  return openReader(options.file, (connection) => reads(connection, options))
}

const BINDING = `SELECT key, campaign_id AS campaignId, account_id AS accountId, start_date AS startDate, mark,
  sent, shown, repeat_at AS repeatAt FROM campaign_bindings WHERE account = @account AND released = 0`

const WRITE = `SELECT id, at, key, campaign_id AS campaignId, action, body, before, actor, by, outcome,
  ended_at AS endedAt, reason FROM campaign_writes WHERE account = @account`

/** The condition of the partial index `campaign_writes_open`, in the same words, so that SQLite uses the index. */
const OPEN = "outcome IN ('sending', 'unknown')"

type StoredAsText<T, Fields extends keyof T> = Omit<T, Fields> & Record<Fields, string | null>

const bindingOf = ({ sent, shown, ...row }: StoredAsText<Binding, 'sent' | 'shown'>): Binding => ({
  ...row,
  sent: JSON.parse(sent ?? 'null') as Binding['sent'],
  shown: JSON.parse(shown ?? 'null') as Binding['shown'],
})

const writeOf = ({
  body,
  before,
  ...row
}: StoredAsText<CampaignWrite, 'body' | 'before'>): CampaignWrite => ({
  ...row,
  body: JSON.parse(body ?? 'null') as CampaignWrite['body'],
  before: JSON.parse(before ?? '{}') as CampaignWrite['before'],
})

function reads(
  connection: Connection,
  { account, file, now = Date.now }: CampaignStoreOptions,
): CampaignReader {
  const mark = stateMark(connection, file)
  return {
    bindings: () => {
      const rows = connection.rows<Parameters<typeof bindingOf>[0]>(BINDING, { account })
      return rows.map(bindingOf)
    },
    released: () => {
      const sql =
        'SELECT campaign_id AS id, key FROM campaign_bindings WHERE account = ? AND released = 1'
      const rows = connection.rows<{ id: string; key: string }>(sql, account)
      return new Map(rows.map(({ id, key }) => [id, key]))
    },
    openCreations: () =>
      readWrites(connection, `${WRITE} AND action = 'create' AND ${OPEN} ORDER BY id`, { account }),
    history: ({ key = null, limit }) =>
      readWrites(
        connection,
        `${WRITE} AND (@key IS NULL OR key = @key) ORDER BY id DESC LIMIT @limit`,
        { account, key, limit },
      ),
    lastWrite: (campaignId, field, whose) => {
      const sql = `${WRITE} AND campaign_id = @campaignId AND outcome = 'done' AND body -> @path IS NOT NULL
        AND (@whose = 'any' OR actor <> 'service') ORDER BY id DESC LIMIT 1`
      const values = { account, campaignId, path: `$.${field}`, whose }
      return readWrites(connection, sql, values)[0] ?? null
    },
    lastPersonWrite: () =>
      connection.value<number>(
        "SELECT max(id) FROM campaign_writes WHERE account = ? AND actor = 'person'",
        account,
      ) ?? 0,
    restoredAt: () => mark.restoredAt(now()),
    madeAt: mark.madeAt,
    usedFile: () => {
      const file = 'SELECT sha256 FROM campaign_files WHERE account = ?'
      const fileSha256 = connection.value<string>(file, account)
      if (fileSha256 === null) return null
      const keys = 'SELECT key FROM campaign_file_keys WHERE account = ? ORDER BY n'
      return { fileSha256, keys: connection.values<string>(keys, account) }
    },
    lastRun: () => {
      const sql = `SELECT at, cause, mode, state, since, problem, hint, entries, findings, failures
        FROM campaign_runs WHERE account = ?`
      const row = connection.row<RunRow>(sql, account)
      return row && runOf(row)
    },
  }
}

type RunRow = Omit<CampaignRun, 'entries' | 'findings' | 'failures'> &
  Record<'entries' | 'findings' | 'failures', string>

const runOf = ({ entries, findings, failures, ...row }: RunRow): CampaignRun => ({
  ...row,
  entries: JSON.parse(entries) as CampaignRun['entries'],
  findings: JSON.parse(findings) as CampaignRun['findings'],
  failures: JSON.parse(failures) as CampaignRun['failures'],
})

const readWrites = (connection: Connection, sql: string, parameters: Parameter) =>
  connection.rows<Parameters<typeof writeOf>[0]>(sql, parameters).map(writeOf)

function writes(
  connection: Connection,
  { account, file, now = Date.now }: CampaignStoreOptions,
): Omit<CampaignStore, keyof CampaignReader> {
  const run = connection.run.bind(connection)
  return {
    atomically: (work) => connection.atomically(work),
    binding: (key) => {
      const sql = `${BINDING} AND key = @key`
      const row = connection.row<Parameters<typeof bindingOf>[0]>(sql, { account, key })
      return row === null ? null : bindingOf(row)
    },
    save: ({ sent, shown, ...binding }) => {
      const texts = { sent: JSON.stringify(sent), shown: shown && JSON.stringify(shown) }
      const sql = `REPLACE INTO campaign_bindings VALUES (@account, @campaignId, @key, @accountId, @startDate, @mark,
        @sent, @shown, @repeatAt, 0)`
      run(sql, { account, ...binding, ...texts })
    },
    release: (campaignId, key) => {
      const sql = `INSERT INTO campaign_bindings (account, campaign_id, key, sent, released)
        VALUES (?, ?, ?, '{"values":{},"targeting":null}', 1)
        ON CONFLICT DO UPDATE SET key = excluded.key, released = 1, repeat_at = NULL`
      run(sql, account, campaignId, key)
    },
    begin: ({ body, before, ...rest }) => {
      const sql = `INSERT INTO campaign_writes (account, at, key, campaign_id, action, body, before, actor, by, outcome)
        VALUES (@account, @at, @key, @campaignId, @action, @body, @before, @actor, @by, 'sending')`
      const sent = body === null ? null : JSON.stringify(body)
      return run(sql, { account, ...rest, body: sent, before: JSON.stringify(before) }).id
    },
    end: (id, { outcome, reason, at, campaignId }) => {
      const sql = `UPDATE campaign_writes SET outcome = ?, reason = ?, ended_at = ?,
        campaign_id = coalesce(?, campaign_id) WHERE id = ?`
      run(sql, outcome, reason, at, campaignId ?? null, id)
    },
    sending: () =>
      readWrites(connection, `${WRITE} AND ${OPEN} AND outcome = 'sending' ORDER BY id`, {
        account,
      }),
    unclearSince: (campaignId, since) =>
      connection.value<number>(
        `SELECT max(at) FROM campaign_writes WHERE ${OPEN} AND outcome = 'unknown' AND campaign_id = ? AND account = ?
         AND at >= ? AND body -> 'targeting' IS NOT NULL`,
        campaignId,
        account,
        since,
      ),
    renewMark: () => stateMark(connection, file).renew(now()),
    keepUsedFile: ({ fileSha256, keys }) =>
      connection.joinTransaction(() => {
        run('DELETE FROM campaign_files WHERE account = ?', account)
        run('INSERT INTO campaign_files VALUES (?, ?)', account, fileSha256)
        for (const [n, key] of keys.entries())
          run('INSERT INTO campaign_file_keys VALUES (?, ?, ?)', account, n, key)
      }),
    keepRun: ({ entries, findings, failures, ...row }) => {
      const sql = `REPLACE INTO campaign_runs VALUES (@account, @at, @cause, @mode, @state, @since, @problem, @hint,
        @entries, @findings, @failures)`
      const texts = {
        entries: JSON.stringify(entries),
        findings: JSON.stringify(findings),
        failures: JSON.stringify(failures),
      }
      run(sql, { account, ...row, ...texts })
    },
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  }
}
