import Database from 'better-sqlite3'
import { expect, it, vi } from 'vitest'
import { openCampaignStore } from '../../../src/campaigns/store.ts'
import { OPEN } from '../../../src/domain/states.ts'
import type { History, ListFilter, Transactions } from '../../../src/history/port.ts'
import { openHistory } from '../../../src/history/sqlite-history.ts'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

/** plansOf returns every statement of `work` with the steps of its query plan. */
function plansOf(file: string, work: (history: History) => unknown) {
  return plansIn(file, async () => {
    using history = openHistory({ file })
    await work(history)
  })
}

async function plansIn(file: string, work: () => Promise<void>) {
  const prepare = vi.spyOn(Database.prototype, 'prepare')
  await work()
  const texts = prepare.mock.calls.map(([sql]) => sql)
  prepare.mockRestore()

  const db = new Database(file, { readonly: true })
  const plans = texts
    .filter((sql) => /^\s*(SELECT|WITH|INSERT|REPLACE|UPDATE|DELETE)/.test(sql))
    .map((sql) => {
      const text = sql.replace(/@\w+/g, '?')
      const nulls = [...text.matchAll(/\?/g)].map(() => null)
      const explained = db.prepare<null[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`)
      return { sql, steps: explained.all(...nulls).map(({ detail }) => detail) }
    })
  db.close()
  return plans
}

/** fullScans returns the steps that read a whole table, or whole index, that grows with the history. */
function fullScans(steps: string[]): string[] {
  return steps.filter((step) => /^SCAN (v|o|versions|events|attempts)\b/.test(step))
}

/** CALLS runs each query and write of the history, except `list`. */
const CALLS: Record<
  Exclude<keyof History, 'list' | 'mark' | keyof Transactions | keyof Disposable>,
  (history: History, id: number) => unknown
> = {
  version: (history, id) => history.version(id),
  newest: (history) => history.newest('acme'),
  newestRead: (history) => history.newestRead('acme'),
  lastUploaded: (history) => history.lastUploaded('acme'),
  onService: (history) => history.onService('acme'),
  maybeOnService: (history) => history.maybeOnService('acme'),
  reachedAt: (history, id) => history.reachedAt(id, 'held'),
  olderFeeds: (history) => history.olderFeeds(),
  datedPaths: (history) => history.datedPaths(),
  missingSince: (history) => history.missingSince(),
  pathOf: (history) => history.pathOf('acme'),
  forgetFeed: (history) => history.forgetFeed('acme', 5),
  confirmed: (history) => history.confirmed('acme', 0),
  baselines: (history) => history.baselines('acme'),
  hasNewerAt: (history) => history.hasNewerAt({ id: 1, path: 'a.xml' }, ['held']),
  turnovers: (history) => history.turnovers('acme'),
  hasOtherAt: (history) => history.hasOtherAt({ feed: 'acme', path: 'a.xml' }),
  recent: (history) => history.recent('acme'),
  postings: (history) => history.postings('acme', 5),
  count: (history) => history.count(),
  oldest: (history) => history.oldest(['queued', 'uploading']),
  lastSuccessAt: (history) => history.lastSuccessAt(5),
  events: (history, id) => history.events(id),
  eventCount: (history, id) => history.eventCount(id),
  lastArrivalAt: (history, id) => history.lastArrivalAt(id, 5),
  add: (history) => versionIn(history, 'uploaded'),
  move: (history) => versionIn(history, 'queued', { patch: { spool: '1.xml' } }),
  update: (history, id) => history.update(id, { approved: true }),
  seen: (history, id) => history.seen(id, { code: 'same-bytes', reason: 'again' }, 5),
  forget: (history) => {
    for (const feed of ['a', 'a', 'b']) versionIn(history, 'settling', { feed })
    for (const feed of ['a', 'b']) history.forget(history.newest(feed)?.id ?? 0)
  },
  difference: (history, id) => history.difference(id),
  keepDifference: (history, id) => history.keepDifference(id, { older: 1, summary: null }),
  spooled: (history) => history.spooled('acme'),
  spoolNames: (history) => history.spoolNames(),
  withCopy: (history) => history.withCopy('1.xml'),
  forgetApprovals: (history) => history.forgetApprovals(),
  lastId: (history) => history.lastId(),
  due: (history) => [history.due(5), history.due(5, 4, { accounts: ['a', null] })],
  postpone: (history) => {
    const wait = { now: 5, until: 9, reason: { code: 'endpoint-down', reason: 'it is down' } }
    for (const accounts of [['a', null], 'all'] as const) history.postpone(accounts, wait)
  },
  askRetry: (history, id) => history.askRetry(id, 5),
  takeRetried: (history) => history.takeRetried(),
  makeDue: (history) => history.makeDue(['endpoint-down']),
  expired: (history) => history.expired(5, 5),
  moveWaits: (history) => history.moveWaits(5),
  shortenWaits: (history) => history.shortenWaits(5),
  nextDueAt: (history) => history.nextDueAt(5),
  prune: (history) => history.prune(5),
  attempts: (history, id) => history.attempts(id),
  startAttempt: (history, id) => history.startAttempt(id, 5, null),
  endAttempt: (history, id) => {
    const result = { outcome: 'failed', status: null, code: null, bytesSent: 0, key: null } as const
    history.endAttempt(id, { endedAt: 5, ...result })
  },
  attemptsInARow: (history, id) => history.attemptsInARow(id, 'test'),
  rememberPath: (history, id) => {
    const identity = { dev: '1', ino: '1', size: 1, mtimeNs: '1', ctimeNs: '1' }
    history.rememberPath({ path: 'a.xml', identity, versionId: id })
  },
  known: (history) => history.known('a.xml'),
  knownFiles: (history) => history.knownFiles(),
  setMissing: (history) => history.setMissing('a.xml', 5),
  lastVersionAt: (history) => history.lastVersionAt('a.xml'),
  rememberMoved: (history, versionId) =>
    history.rememberMoved({ path: 'a.xml', versionId, disposition: 'archive', at: 5 }, 4),
  movedFile: (history) => history.movedFile('a.xml'),
  forgetPath: (history) => history.forgetPath('a.xml'),
  unread: (history) => history.unread(),
  unreadAt: (history) => history.unreadAt('a.xml'),
  pathsOf: (history, id) => history.pathsOf(id),
  ruledFiles: (history) => history.ruledFiles(),
  rejectedFiles: (history) => history.rejectedFiles(),
  request: (history) => history.request(1),
  addRequest: (history) =>
    history.addRequest({ path: 'a.xml', source: '/a.xml', feed: null, at: 5 }),
  openRequests: (history) => history.openRequests(),
  answerRequest: (history) => history.answerRequest(1, { reason: 'none' }),
  pauses: (history) => history.pauses(5),
  pause: (history) => history.pause({ feed: 'acme', since: 5, until: null, by: 'anna' }),
  countPauses: (history) => history.countPauses(5, () => 1),
  resume: (history) => history.resume('acme'),
  addPendingReceipt: (history, id) => history.addPendingReceipt({ id, path: 'a.xml' }, 'token'),
  receiptToken: (history, id) => history.receiptToken({ id, path: 'a.xml' }),
  pendingReceipts: (history, id) => [history.pendingReceipts(), history.pendingReceipts(id)],
  receiptWritten: (history, id) => history.receiptWritten({ id, path: 'a.xml' }, 'token'),
  departures: (history) => history.departures(),
  beginDeparture: (history) => {
    const identity = { dev: '1', ino: '1', size: 1, mtimeNs: '1', ctimeNs: '1' }
    const file = { path: 'a.xml', identity, disposition: 'archive', sha256: null } as const
    history.beginDeparture({ ...file, token: 'token' })
  },
  endDeparture: (history) => history.endDeparture('token'),
  recordService: (history) => {
    const who = { account: '123', partner: null, partnerAccount: null }
    for (const host of ['a', 'b'])
      history.recordService({ ...who, baseUrl: `https://${host}.example.com` })
  },
  otherServiceUpTo: (history) => history.otherServiceUpTo(),
  recordLoss: (history) => history.recordLoss(['999-5-0123456789abcdef.xml']),
  heldAfterLoss: (history) => history.heldAfterLoss(),
  historyLostUpTo: (history) => history.historyLostUpTo(),
  keptPostings: (history) => history.keptPostings('acme'),
  endLoss: (history) => history.endLoss(),
  knownToReceiver: (history) => history.knownToReceiver('a'),
  keepKnownToReceiver: (history) => {
    const one = { mark: '1', event: 'rejected', feed: 'acme', campaign: null } as const
    history.keepKnownToReceiver('a', { sequence: 1, told: new Map([['acme', one]]) })
    history.keepKnownToReceiver('a', { sequence: 2, told: new Map() })
  },
  forgetReceivers: (history) => history.forgetReceivers([]),
  rivals: (history) => {
    for (const likeness of [null, 'acme']) history.rivals({ account: null, feed: 'acme', likeness })
  },
  alike: (history) => history.alike({ account: null, feed: 'acme', likeness: 'acme', upTo: 9 }),
  feedBefore: (history) => history.feedBefore({ feed: 'acme', path: 'a.xml' }),
  whoSaidKeepsAll: (history) => history.whoSaidKeepsAll(null),
  setKeepsAll: (history) => history.setKeepsAll(null, { by: 'maria', since: 5 }),
  forgetAccounts: (history) => history.forgetAccounts(),
}

it('reads no table that grows with the history from end to end, except in the queries listed here', async () => {
  const { file } = temporaryHistory()

  const plans = await plansOf(file, async (history) => {
    const { id } = versionIn(history, 'uploading')
    for (const call of Object.values(CALLS)) await call(history, id)
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
    // The kept copies are few, in a partial index that the start reads once.
    expect.stringMatching(/^SCAN versions USING INDEX versions_spooled: SELECT DISTINCT spool/),
    expect.stringMatching(/^SCAN versions USING INDEX versions_spooled: SELECT id FROM/),
    // Approvals are removed once, after a lost history.
    expect.stringMatching(/^SCAN versions USING INDEX versions_approved: UPDATE versions/),
    // Waiting versions are in a partial index, in the order in which they are sent.
    expect.stringMatching(/^SCAN v USING INDEX versions_queued: SELECT v\.id, v\.feed/),
    expect.stringMatching(/^SCAN v USING INDEX versions_queued: SELECT v\.id, v\.feed/),
    expect.stringMatching(/^SCAN versions USING INDEX versions_queued: UPDATE versions/),
    // `status --all` without a filter shows the whole history, newest first.
    expect.stringMatching(/^SCAN v: SELECT .* FROM versions v WHERE true\s+ORDER BY v\.id DESC/),
  ])
})

it('finds the versions that status shows by reading the feeds in order, without sorting', async () => {
  const { file } = temporaryHistory()
  const filters: ListFilter[] = [{}, { states: ['uploaded'] }, { since: 5 }, { limit: 20 }]

  for (const filter of filters) {
    const list = (await plansOf(file, (history) => history.list(filter))).at(-1)

    expect(list?.steps).toEqual([
      'SCAN f USING COVERING INDEX feeds_newest',
      'SEARCH v USING INTEGER PRIMARY KEY (rowid=?)',
    ])
  }
})

it('finds the versions that a new one replaces without reading the history of the feed', async () => {
  const { file } = temporaryHistory()

  const filter: ListFilter = { feed: 'acme', states: ['held', 'queued', 'failed'], all: true }
  const list = (await plansOf(file, (history) => history.list(filter))).at(-1)

  expect(list?.steps).toEqual([
    'SEARCH v USING INDEX versions_feed_state (feed=? AND state=?)',
    'USE TEMP B-TREE FOR ORDER BY',
  ])
})

it('finds the due versions by reading only the versions that wait', async () => {
  const { file } = temporaryHistory()

  const due = (await plansOf(file, (history) => history.due(5))).at(-1)

  expect(due?.steps).toEqual([
    'SCAN v USING INDEX versions_queued',
    'CORRELATED SCALAR SUBQUERY 1',
    expect.stringMatching(
      /^SEARCH o USING (COVERING )?INDEX versions_feed_state \(feed=\? AND state=\?/,
    ),
  ])
})

it('finds the time of the next due version in one step of an index', async () => {
  const { file } = temporaryHistory()

  const next = (await plansOf(file, (history) => history.nextDueAt(5))).at(-1)

  expect(next?.steps.filter((step) => step.includes('versions'))).toEqual([
    'SEARCH versions USING COVERING INDEX versions_next_attempt (next_attempt_at>?)',
  ])
})

it('a look at the campaigns searches the writes by an index', async () => {
  const { file } = temporaryHistory()

  const plans = await plansIn(file, async () => {
    using store = openCampaignStore({ file, account: 'A' })
    for (const ask of [
      ...[store.openCreations, store.sending, store.bindings, store.released],
      ...[store.usedFile, store.lastRun],
    ])
      ask()
    store.unclearSince('48001', 5)
  })

  const scans = plans.flatMap(({ sql, steps }) =>
    steps
      .filter((step) => /^SCAN campaign_writes\b/.test(step) && !/USING .*INDEX/.test(step))
      .map((step) => `${step}: ${sql}`),
  )
  expect(plans.filter(({ sql }) => sql.includes('FROM campaign_writes'))).not.toEqual([])
  expect(scans).toEqual([])
})

it('finds the rivals of a feed by its account, and not by reading the history of its own versions', async () => {
  const { file } = temporaryHistory()

  for (const likeness of [null, 'acme']) {
    const beside = { account: null, feed: 'acme', likeness }
    const plans = await plansOf(file, (history) => history.rivals(beside))
    const first = plans.find(({ sql }) => sql.includes('UNION ALL'))?.steps.join('\n')

    expect(first).toMatch(/versions_(rivals|alike) \(account=\?( AND likeness=\?)? AND feed<\?\)/)
    expect(first).toMatch(/versions_(rivals|alike) \(account=\?( AND likeness=\?)? AND feed>\?\)/)
  }
})
