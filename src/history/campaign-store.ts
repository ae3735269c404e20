// The campaigns' memory in the history's database: records, creates, plans and the audit. Knows nothing
// of what is right to do with them.

import type { AuditEntry, CampaignRecord, CampaignStore, CreateIntent } from '../campaigns/port.ts'
import { type Connection, openWritable } from './connection.ts'
import { migrate, openReader } from './migrations.ts'

/** The schema that has the campaigns' tables. */
const SCHEMA = 3
/** Plans that can still be applied by their number. */
const KEPT_PLANS = 100

/** Notes with this name and a key tell how often its campaign was made. */
const GENERATION = 'campaign-generation:'
const RUN = 'campaign-run'

type Read = 'account' | 'records' | 'record' | 'intents' | 'createsSince' | 'history' | 'plan'
type Reads = Read | 'generations' | 'lastPlan' | 'lastRun'

/** Opens for writing, beside a running daemon or without one. Throws `FeedsyncError`. */
export function openCampaignStore({ file }: { file: string }): CampaignStore {
  const connection = openWritable(file)
  try {
    migrate(connection)
    return { ...reads(connection), ...writes(connection) }
  } catch (error) {
    connection[Symbol.dispose]()
    throw error
  }
}

/** Opens for reading; null where nothing was ever written. Throws `FeedsyncError`. */
export function openCampaignReader({
  file,
}: {
  file: string
}): (Pick<CampaignStore, Reads> & Disposable) | null {
  return openReader(file, SCHEMA, reads)
}

function reads(connection: Connection): Pick<CampaignStore, Reads> {
  const query = connection.query.bind(connection) as Connection['query']
  return {
    account: () =>
      query<[], { account: string }>('SELECT account FROM campaign_account').get()?.account ?? null,
    records: () =>
      query<[], { record: string }>('SELECT record FROM campaign_records ORDER BY key')
        .all()
        .map(({ record }) => JSON.parse(record) as CampaignRecord),
    record: (key) => {
      const row = query<[string], { record: string }>(
        'SELECT record FROM campaign_records WHERE key = ?',
      ).get(key)
      return row === undefined ? null : (JSON.parse(row.record) as CampaignRecord)
    },
    intents: () =>
      query<[], { id: number; state: string; reason: string | null; intent: string }>(
        `SELECT id, state, reason, intent FROM campaign_intents
         WHERE id IN (SELECT max(id) FROM campaign_intents GROUP BY key)
           AND state IN ('prepared', 'sending', 'unknown', 'rejected')`,
      )
        .all()
        .map(({ intent, ...row }) => ({ ...JSON.parse(intent), ...row }) as CreateIntent),
    generations: () =>
      new Map(
        query<[string, string], { name: string; value: string }>(
          'SELECT name, value FROM notes WHERE name >= ? AND name < ?',
        )
          .all(GENERATION, `${GENERATION}\u{10FFFF}`)
          .map(({ name, value }) => [name.slice(GENERATION.length), Number(value)]),
      ),
    createsSince: (at) =>
      query<[number], { n: number }>(
        `SELECT count(*) AS n FROM campaign_intents
         WHERE at >= ? AND state NOT IN ('prepared', 'not-created', 'rejected')`,
      ).get(at)?.n ?? 0,
    history: ({ key, limit }) =>
      query<[string | null, string | null, number], AuditEntry>(
        `SELECT at, key, campaign_id AS campaignId, event, cause, detail FROM campaign_audit
         WHERE ? IS NULL OR key = ? ORDER BY id DESC LIMIT ?`,
      ).all(key ?? null, key ?? null, limit),
    plan: (id) =>
      query<[number], { plan: string }>('SELECT plan FROM campaign_plans WHERE id = ?').get(id)
        ?.plan ?? null,
    lastPlan: () =>
      query<[], { id: number; plan: string }>(
        'SELECT id, plan FROM campaign_plans ORDER BY id DESC LIMIT 1',
      ).get() ?? null,
    lastRun: () =>
      query<[string], { value: string }>('SELECT value FROM notes WHERE name = ?').get(RUN)
        ?.value ?? null,
  }
}

function writes(connection: Connection): Omit<CampaignStore, Reads> {
  const query = connection.query.bind(connection) as Connection['query']
  return {
    atomically: (work) => connection.atomically(work),
    setAccount: (account) => {
      query<[string]>('INSERT OR IGNORE INTO campaign_account VALUES (1, ?)').run(account)
    },
    save: (record) => {
      query<[string, string, string]>(
        `INSERT INTO campaign_records VALUES (?, ?, ?)
         ON CONFLICT (key) DO UPDATE SET campaign_id = excluded.campaign_id, record = excluded.record`,
      ).run(record.key, record.campaignId, JSON.stringify(record))
    },
    recreate: (key) => {
      connection.atomically(() => {
        query<[string]>('DELETE FROM campaign_records WHERE key = ?').run(key)
        query<[string]>(
          `INSERT INTO notes VALUES (?, '2')
           ON CONFLICT (name) DO UPDATE SET value = CAST(value + 1 AS TEXT)`,
        ).run(GENERATION + key)
      })
    },
    prepare: (intent) =>
      query<[string, number, string]>(
        `INSERT INTO campaign_intents (key, at, state, intent) VALUES (?, ?, 'prepared', ?)`,
      ).run(intent.key, intent.at, JSON.stringify(intent)).id,
    settle: (id, state, reason) => {
      query<[string, string | null, number]>(
        'UPDATE campaign_intents SET state = ?, reason = ? WHERE id = ?',
      ).run(state, reason, id)
    },
    audit: ({ at, key, campaignId, event, cause, detail }) => {
      query<[number, string, string | null, string, string, string]>(
        `INSERT INTO campaign_audit (at, key, campaign_id, event, cause, detail)
         VALUES (?, ?, ?, ?, ?, ?)`,
      ).run(at, key, campaignId, event, cause, detail)
    },
    keepPlan: (plan, at) => {
      const { id } = query<[number, string]>(
        'INSERT INTO campaign_plans (at, plan) VALUES (?, ?)',
      ).run(at, plan)
      query<[number]>('DELETE FROM campaign_plans WHERE id <= ?').run(id - KEPT_PLANS)
      return id
    },
    keepRun: (run) => {
      query<[string, string]>(
        'INSERT INTO notes VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
      ).run(RUN, run)
    },
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  }
}
