// The protocol of a create, in every combination of a crash, a lost request, a lost answer and two delays
// (research/reconcile.md section 3.9): 288 cases over the sandbox's book of campaigns, without a network.

import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { applyPlan } from '../../src/campaigns/apply.ts'
import { readDesired } from '../../src/campaigns/desired-reader.ts'
import type { CampaignStore } from '../../src/campaigns/port.ts'
import { lookAtCampaigns } from '../../src/campaigns/reconciler.ts'
import { openCampaignStore } from '../../src/history/campaign-store.ts'
import { HOUR, MINUTE, systemClock } from '../../src/lib/clock.ts'
import { CampaignBook } from '../../src/sandbox/campaign-book.ts'
import { readCampaign, readPage } from '../../src/service/campaign-answer.ts'
import { listCampaigns } from '../../src/service/campaign-listing.ts'
import type { CampaignApi, CampaignFailure } from '../../src/service/port.ts'
import { entry, fileOf, NOW } from './reconciling.ts'

const CRASHES = ['before-intent', 'prepared', 'sending', 'sent', 'saved', 'never'] as const
const DELAYS = [0, 1 * MINUTE, 30 * MINUTE, 26 * HOUR]
const COMMITS = [0, 5 * MINUTE, 2 * HOUR]
/** When the daemon, or a person, runs apply again. */
const RUNS = [5 * MINUTE, 3 * HOUR, 27 * HOUR]

interface Case {
  crash: (typeof CRASHES)[number]
  applied: boolean
  answerLost: boolean
  listedAfterMs: number
  commitAfterMs: number
}

const CASES: Case[] = CRASHES.flatMap((crash) =>
  [true, false].flatMap((applied) =>
    [true, false].flatMap((answerLost) =>
      DELAYS.flatMap((listedAfterMs) =>
        COMMITS.map((commitAfterMs) => ({
          crash,
          applied,
          answerLost,
          listedAfterMs,
          commitAfterMs,
        })),
      ),
    ),
  ),
)

class Crash extends Error {}

const LOST: CampaignFailure = {
  ...{ kind: 'failure', class: 'temporary', effect: 'unknown', status: null },
  ...{ reason: 'lost', hint: '', body: null, retryAfterMs: null },
}

/** The service's answers through the real readers; `one` shapes the first create alone. */
function apiOf(book: CampaignBook, one: Case, sent: () => void): CampaignApi {
  let creates = 0
  const shown = (campaign: Parameters<CampaignBook['shown']>[0]) => {
    const reading = readCampaign(Buffer.from(JSON.stringify(book.shown(campaign))))
    if (reading.kind === 'unreadable') throw new Error(reading.reason)
    return { kind: 'ok', value: reading.value } as const
  }
  const found = (id: string) => book.find('123', id)
  return {
    search: async ({ status = null, name = null, start = null, num = null }) => {
      const { rows, ...envelope } = book.search('123', { status, name, start, num })
      const items = rows.map((row) => book.shown(row))
      const reading = readPage(Buffer.from(JSON.stringify({ ...envelope, items })), null)
      if (reading.kind === 'unreadable') throw new Error(reading.reason)
      return { kind: 'ok', value: reading.value }
    },
    get: async (id) => {
      const campaign = found(id)
      return campaign === null ? { ...LOST, class: 'missing', effect: 'refused' } : shown(campaign)
    },
    update: async (id, body) => {
      const campaign = found(id)
      if (campaign === null) return { ...LOST, class: 'missing', effect: 'refused' }
      book.update(campaign, JSON.parse(JSON.stringify(body)))
      return shown(campaign)
    },
    create: async (body) => {
      const first = ++creates === 1
      if (first && !one.applied) {
        sent()
        return LOST
      }
      const campaign = book.create('123', JSON.parse(JSON.stringify(body)))
      sent()
      return first && (one.answerLost || one.commitAfterMs > 0) ? LOST : shown(campaign)
    },
  }
}

/** The store of a process that dies at one point of the protocol. */
function dying(store: CampaignStore, crash: Case['crash']): { store: CampaignStore; sent(): void } {
  const die = (point: Case['crash']) => {
    if (crash === point) throw new Crash(point)
  }
  return {
    sent: () => die('sent'),
    store: {
      ...store,
      prepare: (intent) => {
        die('before-intent')
        return store.prepare(intent)
      },
      settle: (id, state, reason) => {
        if (state === 'sending') die('prepared')
        store.settle(id, state, reason)
        if (state === 'sending') die('sending')
      },
      audit: (one) => {
        store.audit(one)
        die('saved')
      },
    },
  }
}

async function run(one: Case, directory: string, n: number) {
  const file = join(directory, `${n}.db`)
  copyFileSync(join(directory, 'empty.db'), file)
  let now = NOW
  const clock = { ...systemClock, now: () => now, sleep: async () => {} }
  const book = new CampaignBook(clock, () => [])
  Object.assign(book.knobs, {
    listedAfterMs: one.listedAfterMs,
    commitAfterMs: one.commitAfterMs,
    foundAfterMs: one.listedAfterMs,
  })
  const reading = readDesired(fileOf(entry('A')))
  if (reading.kind === 'problems') throw new Error('the file is wrong')
  const wanted = { desired: reading.desired, fileSha256: '', allowWiden: new Set<string>() }
  let sent = () => {}
  const api = apiOf(book, one, () => sent())
  const apply = async (real: CampaignStore, crash: Case['crash']) => {
    const mortal = dying(real, crash)
    sent = mortal.sent
    const list = (signal: AbortSignal) => listCampaigns(api, clock, signal)
    const feeds = () => ({ latest: [], absence: () => null, count: NOT_ASKED })
    const parts = { api, list, feeds, clock, store: mortal.store, account: 'acc' }
    const { signal } = new AbortController()
    const view = await lookAtCampaigns(parts, wanted, signal)
    if (view.kind === 'failure') throw new Error(view.reason)
    try {
      await applyPlan({ ...parts, signal, stop: signal, cause: 'test' }, wanted, view, null)
    } catch (error) {
      if (!(error instanceof Crash)) throw error
    }
  }
  {
    using store = openCampaignStore({ file })
    await apply(store, one.crash)
  }
  using store = openCampaignStore({ file })
  for (const wait of RUNS) {
    now += wait
    await apply(store, 'never')
  }
  const known = store.records().map(({ campaignId }) => campaignId)
  const waits = store.intents().some(({ state }) => state === 'sending' || state === 'unknown')
  return { there: book.all.map(({ id }) => id), known, waits }
}

const NOT_ASKED = () => Promise.reject(new Error('no feed was uploaded'))

describe('a create', () => {
  it(`ends with no duplicate and nothing lost in all ${CASES.length} cases`, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'feedsyncd-cases-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    // Made once: to create the schema 288 times takes longer than all else.
    openCampaignStore({ file: join(directory, 'empty.db') })[Symbol.dispose]()
    const outcomes = { adopted: 0, held: 0 }

    for (const [n, one] of CASES.entries()) {
      const { there, known, waits } = await run(one, directory, n)

      expect.soft(there.length, `duplicates in ${JSON.stringify(one)}`).toBeLessThanOrEqual(1)
      expect.soft(known, `what is known in ${JSON.stringify(one)}`).toEqual(there)
      expect.soft(known.length === 1 || waits, `lost in ${JSON.stringify(one)}`).toBe(true)
      outcomes[known.length === 1 ? 'adopted' : 'held']++
    }

    expect(CASES).toHaveLength(288)
    // A request that never arrived is held for a person; every other ends well by itself.
    expect(outcomes).toEqual({ adopted: 120, held: 168 })
  }, 60_000)
})
