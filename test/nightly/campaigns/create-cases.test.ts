// The protocol of a create, in every combination of a crash, a lost request, a lost answer and two delays:
// 288 cases over a service in memory, with a real database.

import { describe, expect, it } from 'vitest'
import type { CampaignStore } from '../../../src/campaigns/port.ts'
import { HOUR, MINUTE } from '../../../src/lib/clock.ts'
import { entry, fileOf } from '../../helpers/campaigns/reconciling.ts'
import { failure, Killed, type Trouble, World } from '../../helpers/campaigns/world.ts'

/** Before the row, after it, when the request arrived, when it is read back, after the end, and never. */
const CRASHES = ['before-row', 'row', 'sent', 'read', 'saved', 'never'] as const
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

/** What becomes of the first create's calls. */
function troubleOf({
  crash,
  applied,
  answerLost,
  commitAfterMs,
}: Case): (kind: string) => Trouble | null {
  let creates = 0
  let reads = 0
  return (kind) => {
    if (kind === 'get' && creates === 1 && ++reads === 1 && crash === 'read')
      return { kind: 'die', when: 'after' }
    if (kind !== 'create' || ++creates > 1) return null
    if (crash === 'sent') return { kind: 'die', when: applied ? 'after' : 'before' }
    if (!applied) return { kind: 'fail', failure: failure.temporary() }
    return answerLost || commitAfterMs > 0 ? { kind: 'lost' } : null
  }
}

/** The store of a process that dies at one point of the protocol. */
function dying(store: CampaignStore, crash: Case['crash']): CampaignStore {
  return {
    ...store,
    begin: (write) => {
      if (crash === 'before-row') throw new Killed()
      const id = store.begin(write)
      if (crash === 'row') throw new Killed()
      return id
    },
    end: (...end) => {
      store.end(...end)
      // Within a transaction it would be undone.
      if (crash === 'saved' && end[1] !== 'done') throw new Killed()
    },
  }
}

async function run(world: World, one: Case) {
  world.all.splice(0)
  const host = world.host(fileOf(entry('A')))
  Object.assign(world.book.knobs, {
    listedAfterMs: one.listedAfterMs,
    commitAfterMs: one.commitAfterMs,
    foundAfterMs: one.listedAfterMs,
  })
  const trouble = troubleOf(one)
  world.trouble = ({ kind }) => trouble(kind)
  const real = host.store
  Object.defineProperty(host, 'store', { configurable: true, get: () => dying(real, one.crash) })
  await host.apply().catch((error) => {
    if (!(error instanceof Killed)) throw error
  })
  Reflect.deleteProperty(host, 'store')
  for (const wait of RUNS) {
    world.pass(wait)
    await host.apply()
  }
  const known = host.store.records().map(({ campaignId }) => campaignId)
  const waits = host.store.open().some(({ outcome }) => outcome === 'unknown')
  host.restart()
  return { there: world.all.map(({ id }) => id), known, waits }
}

describe('a create', () => {
  it(`ends with no duplicate and nothing lost in all ${CASES.length} cases`, async () => {
    const world = World.open()
    const outcomes = { known: 0, held: 0 }

    for (const one of CASES) {
      const { there, known, waits } = await run(world, one)

      expect.soft(there.length, `duplicates in ${JSON.stringify(one)}`).toBeLessThanOrEqual(1)
      expect.soft(known, `what is known in ${JSON.stringify(one)}`).toEqual(there)
      expect.soft(known.length === 1 || waits, `lost in ${JSON.stringify(one)}`).toBe(true)
      outcomes[known.length === 1 ? 'known' : 'held']++
    }

    expect(CASES).toHaveLength(288)
    // A request that never arrived is held for a person; every other ends well without anybody.
    expect(outcomes).toEqual({ known: 120, held: 168 })
  })
})
