// Switches each rule off, and shows that the random histories find it out: a model that misses a broken
// rule proves nothing. The switches are in this file alone.

import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Mutations } from '../../helpers/campaigns/model.ts'

const SRC = '../../../src/campaigns'

interface Mutation {
  rule: string
  module?: string
  change?: (real: Record<string, never>) => Record<string, unknown>
  switches?: Mutations
  /** Of histories that find it out soon. */
  seed?: number
}

// biome-ignore lint/suspicious/noExplicitAny: a mutation reaches into any module.
type Any = any

const MUTATIONS: Mutation[] = [
  { rule: '1, an approval covers its own writes alone', switches: { approvalOfAnything: true } },
  {
    rule: '2, reductions have a road of their own',
    module: 'compare.ts',
    change: (real: Any) => ({
      compare: (...given: Any[]) => {
        const found = real.compare(...given)
        return { ...found, raise: found.raise ?? found.reduce, reduce: null }
      },
    }),
  },
  {
    rule: '3, what was written or sent counts, whatever is listed',
    module: 'ledger.ts',
    change: (real: Any) => ({
      maySpend: ({ record, shown }: Any, now: number) =>
        real.maySpend(
          { record: record && { ...record, written: {} }, shown: shown.slice(0, 1), open: [] },
          now,
        ),
      Ledger: class extends real.Ledger {
        raise() {
          return null
        }
      },
    }),
  },
  {
    rule: '4, nothing is created without proof of absence',
    module: 'absence.ts',
    change: (real: Any) => ({
      Absence: class extends real.Absence {
        candidates() {
          return { count: 0, likeliest: [] }
        }
      },
    }),
  },
  {
    rule: '4, a restored database creates nothing while lists may be late',
    switches: { trustsAnyDatabase: true },
    seed: 10,
  },
  {
    rule: '5, unknown is not null',
    module: 'fields.ts',
    change: (real: Any) => ({
      readValue: (field: string, raw: unknown) =>
        real.readValue(field, raw === undefined ? null : raw),
      rawOf: (campaign: Any, field: string) => real.rawOf(campaign, field) ?? null,
    }),
  },
  {
    rule: '5, what is not ours is not written to',
    module: 'record.ts',
    change: () => ({ whyForeign: () => null }),
  },
  { rule: '6, a row is written before each write', switches: { noRows: true } },
  {
    rule: '7, every difference is reported',
    module: 'findings.ts',
    change: () => ({ findingsOf: () => [] }),
  },
  { rule: '8, the file is read again before each raise', switches: { staleFile: true } },
]

afterEach(() => {
  for (const { module } of MUTATIONS) if (module !== undefined) vi.doUnmock(`${SRC}/${module}`)
  vi.resetModules()
})

describe('the random histories find out that a rule is switched off:', () => {
  it.each(MUTATIONS)('$rule', async (mutation) => {
    const { module, change, switches = {}, seed = 7 } = mutation
    vi.resetModules()
    if (module !== undefined && change !== undefined) {
      vi.doMock(`${SRC}/${module}`, async (original) => {
        const real = await original<Record<string, never>>()
        return { ...real, ...change(real) }
      })
    }
    const { explore } = await import('../../helpers/campaigns/model.ts')

    const broken = await explore(400, seed, { ...switches, isMutated: true }).then(
      () => null,
      (error: Error) => error,
    )

    expect(String(broken?.cause ?? broken)).toContain('a promise is broken')
  })
})
