// The campaigns' memory in the history's database: records, writes, new entries and plans. Knows nothing of what
// is right to do with them.

import type {
  AccountFacts,
  CampaignRecord,
  CampaignStore,
  CampaignWrite,
  Other,
} from '../campaigns/port.ts'
import { type Connection, openWritable } from './connection.ts'
import { type CreateMark, createMark } from './create-mark.ts'
import { migrate, openReader } from './migrations.ts'

/** Plans that can still be applied by their number. */
const KEPT_PLANS = 100
const RUN = 'campaign-run'
const STATES = 'campaign-states'
const MARK = 'campaign-mark'

type Reads =
  | 'account'
  | 'others'
  | 'records'
  | 'record'
  | 'newEntries'
  | 'open'
  | 'creates'
  | 'newestCreate'
  | 'generation'
  | 'since'
  | 'history'
  | 'lastDecision'
  | 'plan'
  | 'lastPlan'
  | 'lastRun'
  | 'lastStates'

/** Opens for writing, beside a running daemon or without one. Throws `FeedsyncError`. */
export function openCampaignStore({
  file,
  mark = createMark(`${file}.last-create`),
}: {
  file: string
  mark?: CreateMark
}): CampaignStore {
  const connection = openWritable(file)
  try {
    migrate(connection)
    return { ...reads(connection), ...writes(connection, mark) }
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
  return openReader(file, reads)
}

const WRITE = `SELECT id, at, key, campaign_id AS campaignId, action, body, before, spend, why, by, outcome,
  ended_at AS endedAt, reason FROM campaign_writes`

type WriteRow = Omit<CampaignWrite, 'body' | 'before'> & { body: string | null; before: string }

const writeOf = ({ body, before, ...row }: WriteRow): CampaignWrite => ({
  ...row,
  body: JSON.parse(body ?? 'null'),
  before: JSON.parse(before),
})

const noteOf = (connection: Connection, name: string) =>
  connection.query<[string], { value: string }>('SELECT value FROM notes WHERE name = ?').get(name)
    ?.value ?? null

function reads(connection: Connection): Pick<CampaignStore, Reads> {
  const query = connection.query.bind(connection) as Connection['query']
  const writes = (where: string, ...values: (string | number | null)[]) =>
    query<(string | number | null)[], WriteRow>(`${WRITE} ${where}`)
      .all(...values)
      .map(writeOf)
  const note = (name: string) => noteOf(connection, name)
  return {
    account: () => {
      const row = query<[], { facts: string }>('SELECT facts FROM campaign_account').get()
      return row === undefined ? null : (JSON.parse(row.facts) as AccountFacts)
    },
    others: () => query<[], Other>('SELECT id, key FROM campaign_others').all(),
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
    newEntries: () =>
      new Map(
        query<[], { key: string; excluded: string }>(
          'SELECT key, excluded FROM campaign_new_entries',
        )
          .all()
          .map(({ key, excluded }) => [key, JSON.parse(excluded) as string[]]),
      ),
    open: () => writes("WHERE outcome IN ('sending', 'unknown', 'given-up') ORDER BY id"),
    creates: () =>
      writes(
        "WHERE id IN (SELECT max(id) FROM campaign_writes WHERE action = 'create' GROUP BY key)",
      ),
    newestCreate: (key) =>
      writes("WHERE action = 'create' AND key = ? ORDER BY id DESC LIMIT 1", key)[0] ?? null,
    generation: (key) =>
      query<[string], { n: number }>(
        `SELECT count(*) AS n FROM campaign_writes
         WHERE key = ? AND action = 'create' AND outcome NOT IN ('refused', 'not-sent')`,
      ).get(key)?.n ?? 0,
    since: (at) =>
      writes(
        "WHERE at >= ? AND action <> 'decision' AND outcome NOT IN ('refused', 'not-sent') ORDER BY id",
        at,
      ),
    history: ({ key, limit }) =>
      writes(
        'WHERE ? IS NULL OR key = ? ORDER BY id DESC LIMIT ?',
        key ?? null,
        key ?? null,
        limit,
      ),
    lastDecision: () =>
      query<[], { id: number }>(
        "SELECT id FROM campaign_writes WHERE by NOT LIKE 'daemon:%' ORDER BY id DESC LIMIT 1",
      ).get()?.id ?? null,
    plan: (id) =>
      query<[number], { plan: string }>('SELECT plan FROM campaign_plans WHERE id = ?').get(id)
        ?.plan ?? null,
    lastPlan: () =>
      query<[], { id: number; plan: string }>(
        'SELECT id, plan FROM campaign_plans ORDER BY id DESC LIMIT 1',
      ).get() ?? null,
    lastRun: () => note(RUN),
    lastStates: () => note(STATES),
  }
}

function writes(connection: Connection, mark: CreateMark): Omit<CampaignStore, Reads> {
  const query = connection.query.bind(connection) as Connection['query']
  const end: CampaignStore['end'] = (id, outcome, reason, at, campaignId) => {
    query<[string, string | null, number, string | null, number]>(
      `UPDATE campaign_writes SET outcome = ?, reason = ?, ended_at = ?,
       campaign_id = coalesce(?, campaign_id) WHERE id = ?`,
    ).run(outcome, reason, at, campaignId ?? null, id)
  }
  const keepNote = (name: string, value: string) => {
    query<[string, string]>(
      'INSERT INTO notes VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    ).run(name, value)
  }
  const renewMark = () => {
    mark.renew()
    keepNote(MARK, mark.seen()?.text ?? '')
  }
  const begin: CampaignStore['begin'] = (write) => {
    const { at, key, campaignId, action, body, before, spend, why, by } = write
    if (action === 'create') renewMark()
    return query<(string | number | null)[]>(
      `INSERT INTO campaign_writes (at, key, campaign_id, action, body, before, spend, why, by, outcome)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'sending')`,
    ).run(
      ...[at, key, campaignId, action, body === null ? null : JSON.stringify(body)],
      ...[JSON.stringify(before), spend, why, by],
    ).id
  }
  return {
    ...{ begin, end, renewMark },
    unknownCreatesUntil: () => {
      const known = noteOf(connection, MARK)
      // Without the file nothing says when the database came here: the time counts from now on.
      if (known !== null && mark.seen() === null) mark.renew()
      const seen = mark.seen()
      return seen === null || seen.text === known ? null : seen.at
    },
    atomically: (work) => connection.atomically(work),
    saveAccount: (facts) => {
      query<[string]>(
        'INSERT INTO campaign_account VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET facts = excluded.facts',
      ).run(JSON.stringify(facts))
    },
    addOther: ({ id, key }) => {
      query<[string, string | null]>('INSERT OR IGNORE INTO campaign_others VALUES (?, ?)').run(
        id,
        key,
      )
    },
    removeOther: (id) => {
      query<[string]>('DELETE FROM campaign_others WHERE id = ?').run(id)
    },
    save: (record) => {
      query<[string, string]>(
        `INSERT INTO campaign_records VALUES (?, ?)
         ON CONFLICT (key) DO UPDATE SET record = excluded.record`,
      ).run(record.key, JSON.stringify(record))
    },
    remove: (key) => {
      query<[string]>('DELETE FROM campaign_records WHERE key = ?').run(key)
    },
    keepNewEntry: (key, excluded) => {
      query<[string]>('DELETE FROM campaign_new_entries WHERE key = ?').run(key)
      if (excluded !== null)
        query<[string, string]>('INSERT INTO campaign_new_entries VALUES (?, ?)').run(
          key,
          JSON.stringify(excluded),
        )
    },
    decide: (decision) =>
      connection.atomically(() => {
        const rest = { action: 'decision', body: null, before: {}, spend: 'neutral' } as const
        end(begin({ ...decision, ...rest }), 'done', null, decision.at)
      }),
    keepPlan: (plan, at) => {
      const { id } = query<[number, string]>(
        'INSERT INTO campaign_plans (at, plan) VALUES (?, ?)',
      ).run(at, plan)
      query<[number]>('DELETE FROM campaign_plans WHERE id <= ?').run(id - KEPT_PLANS)
      return id
    },
    keepRun: (run) => keepNote(RUN, run),
    keepStates: (states) => keepNote(STATES, states),
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  }
}
