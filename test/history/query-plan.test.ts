import Database from 'better-sqlite3'
import { expect, it, vi } from 'vitest'
import { openCampaignStore } from '../../src/history/campaign-store.ts'
import { Connection } from '../../src/history/connection.ts'
import type { ListFilter } from '../../src/history/port.ts'
import { openHistory } from '../../src/history/sqlite-history.ts'
import { OPEN } from '../../src/history/states.ts'
import { temporaryHistory } from './helpers.ts'

/** Every statement of a history and of this work, with the steps of its plan. */
function plansOf(file: string, work: (history: ReturnType<typeof openHistory>) => void) {
  return plansIn(file, () => {
    using history = openHistory({ file })
    work(history)
  })
}

function plansIn(file: string, work: () => void) {
  const query = vi.spyOn(Connection.prototype, 'query')
  work()
  const texts = query.mock.calls.map(([sql]) => sql)
  query.mockRestore()

  const db = new Database(file, { readonly: true })
  const plans = texts.map((sql) => {
    const text = sql.replace(/@\w+/g, '?').replaceAll('?', '+?')
    const nulls = [...text.matchAll(/\?/g)].map(() => null)
    const steps = db.prepare<null[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`).all(...nulls)
    return { sql, steps: steps.map(({ detail }) => detail) }
  })
  db.close()
  return plans
}

/** Steps that read a whole table which grows with the history, or a whole index of one. */
function fullScans(steps: string[]): string[] {
  return steps.filter((step) => /^SCAN (v|o|versions|events|attempts)\b/.test(step))
}

it('reads no table that grows with the history from end to end', () => {
  const { file } = temporaryHistory()

  const plans = plansOf(file, (history) => {
    for (const all of [true, false]) {
      for (const feed of [{}, { feed: 'acme' }]) {
        for (const states of [{}, { states: OPEN }, { states: ['uploaded'] as const }]) {
          for (const since of [{}, { since: 5 }])
            history.list({ all, ...feed, ...states, ...since })
        }
      }
    }
  })

  const scans = plans.flatMap(({ sql, steps }) => fullScans(steps).map((step) => `${step}: ${sql}`))
  expect(plans.length).toBeGreaterThan(50)
  expect(scans).toEqual([
    // Copies that are kept, named once at the start: a partial index of the few.
    expect.stringMatching(/^SCAN versions USING INDEX versions_spooled: SELECT DISTINCT spool/),
    // What a person approved, forgotten once after a lost history.
    expect.stringMatching(/^SCAN versions USING INDEX versions_approved: UPDATE versions/),
    // Running attempts: a partial index of the few.
    expect.stringMatching(/^SCAN attempts USING INDEX attempts_running: UPDATE attempts/),
    // `status --all` without a filter is the whole history, newest first.
    expect.stringMatching(/^SCAN v: SELECT .* FROM versions v WHERE true\s+ORDER BY v\.id DESC/),
  ])
})

it('finds what status shows by walking the feeds, in their order, without sorting', () => {
  const { file } = temporaryHistory()
  const filters: ListFilter[] = [{}, { states: ['uploaded'] }, { since: 5 }, { limit: 20 }]

  for (const filter of filters) {
    const list = plansOf(file, (history) => history.list(filter)).at(-1)

    expect(list?.steps).toEqual([
      'SCAN f USING COVERING INDEX feeds_newest',
      'SEARCH v USING INTEGER PRIMARY KEY (rowid=?)',
    ])
  }
})

it('finds what a new version of a feed replaces without reading the history of the feed', () => {
  const { file } = temporaryHistory()

  const list = plansOf(file, (history) => {
    history.list({ feed: 'acme', states: ['held', 'queued', 'failed'], all: true })
  }).at(-1)

  expect(list?.steps).toEqual([
    'SEARCH v USING INDEX versions_feed_state (feed=? AND state=?)',
    'USE TEMP B-TREE FOR ORDER BY',
  ])
})

it('decides whose turn it is from what waits', () => {
  const { file } = temporaryHistory()

  const due = plansOf(file, () => {}).find(({ sql }) => sql.includes('v.next_attempt_at <='))

  expect(due?.steps).toEqual([
    'SEARCH v USING INDEX versions_state (state=?)',
    'CORRELATED SCALAR SUBQUERY 1',
    expect.stringMatching(
      /^SEARCH o USING (COVERING )?INDEX versions_feed_state \(feed=\? AND state=\?/,
    ),
  ])
})

it('finds the next time something is due in one step of an index', () => {
  const { file } = temporaryHistory()

  const next = plansOf(file, () => {}).filter(({ sql }) =>
    /^SELECT min\((next_attempt_at|deadline_at)\)/.test(sql),
  )

  expect(next.map(({ steps }) => steps)).toEqual([
    ['SEARCH versions USING COVERING INDEX versions_next_attempt (next_attempt_at>?)'],
    ['SEARCH versions USING COVERING INDEX versions_deadline (deadline_at>?)'],
  ])
})

it('what a look asks of the campaigns reads none of the writes that it does not need', () => {
  const { file } = temporaryHistory()

  const plans = plansIn(file, () => {
    using store = openCampaignStore({ file })
    for (const ask of [store.open, store.creates, store.made, store.lastDecision]) ask()
    store.generation('A')
    store.since(5)
  })

  const scans = plans.flatMap(({ sql, steps }) =>
    steps
      .filter((step) => /^SCAN campaign_writes\b/.test(step) && !/USING .*INDEX/.test(step))
      .map((step) => `${step}: ${sql}`),
  )
  expect(scans).toEqual([])
})
