// The campaigns' memory in the history's database: records, writes, new entries and plans. Knows nothing of what
// is right to do with them.

import type {
  AccountFacts,
  CampaignRecord,
  CampaignStore,
  CampaignWrite,
  Other,
  Plan,
} from '../campaigns/port.ts'
import type { CampaignRun } from '../ops/port.ts'
import { type Connection, openWritable, type Parameter } from './connection.ts'
import { type CreateMark, createMark } from './create-mark.ts'
import { migrate, openReader } from './migrations.ts'
import { notes } from './notes.ts'

/** Plans that can still be applied by their number. */
const KEPT_PLANS = 100
const ACCOUNT = 'campaign-account'
const RUN = 'campaign-run'
const STATES = 'campaign-states'
const MARK = 'campaign-mark'

/** Opens for writing, beside a running daemon or without one. Throws `FeedsyncError`. */
export function openCampaignStore({
  file,
  mark = createMark(`${file}.last-create`),
}: {
  file: string
  mark?: CreateMark
}): CampaignStore {
  using opening = new DisposableStack()
  const connection = opening.use(openWritable(file))
  migrate(connection)
  const store = { ...reads(connection), ...writes(connection, mark) }
  opening.move()
  return store
}

type Reads = keyof ReturnType<typeof reads>

export type CampaignReader = Pick<CampaignStore, Reads> & Disposable

/** Opens for reading; null where nothing was ever written. Throws `FeedsyncError`. */
export function openCampaignReader({ file }: { file: string }): CampaignReader | null {
  return openReader(file, reads)
}

const WRITE = `SELECT id, at, key, campaign_id AS campaignId, action, body, before, spend, why, by,
  direct AS isDirect, outcome, ended_at AS endedAt, reason FROM campaign_writes`

/** Whether it was carried out is not known yet. */
const UNSETTLED = "outcome IN ('sending', 'unknown')"

type WriteRow = Omit<CampaignWrite, 'body' | 'before' | 'isDirect'> & {
  body: string | null
  before: string
  isDirect: number
}

const writeOf = ({ body, before, isDirect, ...row }: WriteRow): CampaignWrite => ({
  ...row,
  isDirect: isDirect === 1,
  body: JSON.parse(body ?? 'null'),
  before: JSON.parse(before),
})

function reads(connection: Connection) {
  const { note } = notes(connection)
  const writes = (where: string, ...parameters: Parameter[]) =>
    connection.rows<WriteRow>(`${WRITE} ${where}`, ...parameters).map(writeOf)
  const records = (where: string, ...parameters: Parameter[]) =>
    connection
      .values<string>(`SELECT record FROM campaign_records ${where}`, ...parameters)
      .map((record) => JSON.parse(record) as CampaignRecord)
  return {
    account: () => JSON.parse(note(ACCOUNT) ?? 'null') as AccountFacts | null,
    others: () => connection.rows<Other>('SELECT id, key FROM campaign_others'),
    records: () => records('ORDER BY key'),
    record: (key) => records('WHERE key = ?', key)[0] ?? null,
    newEntries: () => {
      const sql = 'SELECT key, excluded FROM campaign_new_entries'
      const rows = connection.rows<{ key: string; excluded: string }>(sql)
      return new Map(rows.map(({ key, excluded }) => [key, JSON.parse(excluded) as string[]]))
    },
    open: () => writes("WHERE outcome IN ('sending', 'unknown', 'given-up') ORDER BY id"),
    creates: () => {
      const made = "FROM campaign_writes INDEXED BY campaign_writes_creates WHERE action = 'create'"
      const newest = `SELECT max(id) ${made} GROUP BY key`
      const open = `SELECT id ${made} AND ${UNSETTLED}`
      return writes(`WHERE id IN (${newest} UNION ${open}) ORDER BY ${UNSETTLED}, id`)
    },
    made: () => {
      const sql = `SELECT campaign_id FROM campaign_writes WHERE action = 'create' AND outcome = 'done'`
      return new Set(connection.values<string>(sql))
    },
    generation: (key) => {
      const sql = `SELECT count(*) FROM campaign_writes
         WHERE key = ? AND action = 'create' AND outcome NOT IN ('refused', 'not-sent')`
      return connection.value<number>(sql, key) ?? 0
    },
    since: (at) =>
      writes(
        // The planner would read all of them, since that saves sorting.
        `INDEXED BY campaign_writes_at
         WHERE at >= ? AND action <> 'decision' AND outcome NOT IN ('refused', 'not-sent') ORDER BY id`,
        at,
      ),
    history: ({ key = null, limit }) => {
      const where = 'WHERE @key IS NULL OR key = @key ORDER BY id DESC LIMIT @limit'
      return writes(where, { key, limit })
    },
    lastDecision: () =>
      connection.value<number>(
        "SELECT id FROM campaign_writes WHERE by NOT LIKE 'daemon:%' ORDER BY id DESC LIMIT 1",
      ),
    plan: (id) => {
      const plan = connection.value<string>('SELECT plan FROM campaign_plans WHERE id = ?', id)
      return JSON.parse(plan ?? 'null') as Plan | null
    },
    lastRun: () => JSON.parse(note(RUN) ?? 'null') as CampaignRun | null,
    lastStates: () => JSON.parse(note(STATES) ?? '[]') as ReturnType<CampaignStore['lastStates']>,
  } satisfies Partial<CampaignStore>
}

function writes(connection: Connection, mark: CreateMark): Omit<CampaignStore, Reads> {
  const { note, setNote } = notes(connection)
  const run = connection.run.bind(connection)
  const end: CampaignStore['end'] = (id, outcome, reason, at, campaignId) => {
    const sql = `UPDATE campaign_writes SET outcome = ?, reason = ?, ended_at = ?,
       campaign_id = coalesce(?, campaign_id) WHERE id = ?`
    run(sql, outcome, reason, at, campaignId ?? null, id)
  }
  const renewMark = () => {
    mark.renew()
    setNote(MARK, mark.seen()?.text ?? '')
  }
  const begin: CampaignStore['begin'] = ({ body, before, isDirect, ...rest }) => {
    if (rest.action === 'create') renewMark()
    const sql = `INSERT INTO campaign_writes
         (at, key, campaign_id, action, body, before, spend, why, by, direct, outcome)
       VALUES (@at, @key, @campaignId, @action, @body, @before, @spend, @why, @by, @direct, 'sending')`
    const sent = body === null ? null : JSON.stringify(body)
    const direct = Number(isDirect ?? false)
    return run(sql, { ...rest, body: sent, before: JSON.stringify(before), direct }).id
  }
  return {
    ...{ begin, end, renewMark },
    unknownCreatesUntil: () => {
      const known = note(MARK)
      // Without the file nothing says when the database came here: the time counts from now on.
      if (known !== null && mark.seen() === null) mark.renew()
      const seen = mark.seen()
      return seen === null || seen.text === known ? null : seen.at
    },
    atomically: (work) => connection.atomically(work),
    saveAccount: (facts) => setNote(ACCOUNT, JSON.stringify(facts)),
    addOther: ({ id, key }) =>
      void run('INSERT OR IGNORE INTO campaign_others VALUES (?, ?)', id, key),
    removeOther: (id) => void run('DELETE FROM campaign_others WHERE id = ?', id),
    save: (record) =>
      void run('REPLACE INTO campaign_records VALUES (?, ?)', record.key, JSON.stringify(record)),
    remove: (key) => void run('DELETE FROM campaign_records WHERE key = ?', key),
    keepNewEntry: (key, excluded) => {
      if (excluded === null) run('DELETE FROM campaign_new_entries WHERE key = ?', key)
      else run('REPLACE INTO campaign_new_entries VALUES (?, ?)', key, JSON.stringify(excluded))
    },
    decide: (decision) =>
      connection.atomically(() => {
        const rest = { action: 'decision', body: null, before: {}, spend: 'neutral' } as const
        end(begin({ ...decision, ...rest }), 'done', null, decision.at)
      }),
    keepPlan: (plan, at) => {
      const newest = 'SELECT id, plan FROM campaign_plans ORDER BY id DESC LIMIT 1'
      const last = connection.row<{ id: number; plan: string }>(newest)
      const lastPlan = JSON.parse(last?.plan ?? 'null') as Plan | null
      // Each upload changes what is told of the feeds: whoever was told of the number still finds the plan.
      const same = ({ createdAt: _, feed: __, ...rest }: Plan) => JSON.stringify(rest)
      if (last !== null && lastPlan !== null && same(lastPlan) === same(plan)) {
        const now = JSON.stringify({ ...plan, createdAt: lastPlan.createdAt })
        run('UPDATE campaign_plans SET plan = ? WHERE id = ?', now, last.id)
        return last.id
      }
      const sql = 'INSERT INTO campaign_plans (at, plan) VALUES (?, ?)'
      const { id } = run(sql, at, JSON.stringify(plan))
      run('DELETE FROM campaign_plans WHERE id <= ?', id - KEPT_PLANS)
      return id
    },
    keepRun: (run) => setNote(RUN, JSON.stringify(run)),
    keepStates: (states) => setNote(STATES, JSON.stringify(states)),
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  }
}
