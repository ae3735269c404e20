import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE, SECOND } from '../../../src/lib/clock.ts'
import { failureOf, RULES, type Rule } from '../../../src/lib/decision-table.ts'
import { waitAfter } from '../../../src/upload/retry.ts'
import { harness } from '../../helpers/upload/harness.ts'

const failure = (rule: Rule, retryAfterMs: number | null = null) =>
  failureOf(rule, { code: 'x', reason: 'x', retryAfterMs })

describe('the wait before the next attempt', () => {
  it.each([
    [RULES.noForm, [500, 1000, 2000, 5 * MINUTE]],
    [RULES.throttled, [2500, 5000, 10_000, 5 * MINUTE]],
    [RULES.unconfirmed, [15_000, 30_000, 60_000, 5 * MINUTE]],
  ] as const)(
    'doubles with each attempt, up to 10 minutes before the jitter: $name',
    (rule, expected) => {
      expect([1, 2, 3, 1000].map((n) => waitAfter(failure(rule), n, () => 0.5))).toEqual(expected)
    },
  )

  it('is never below 100 ms', () => {
    expect(waitAfter(failure(RULES.noForm), 1, () => 0)).toBe(100)
  })

  it('is no shorter than Retry-After', () => {
    const waits = [HOUR, 1].map((ms) => waitAfter(failure(RULES.throttled, ms), 1, () => 1))

    expect(waits).toEqual([HOUR, 5 * SECOND])
  })
})

describe('a delivery', () => {
  it('makes quick attempts with waits of 2 s together, and then waits as queued', async () => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'service', kind: 'answer', status: 500 })

    const result = await h.deliver('<jobs/>')

    expect(h.clock.waits).toEqual([500, 1000])
    expect(result.kind === 'later' && result.at - h.clock.now()).toBeGreaterThan(1000)
  })

  it('is not tried again after a fault of this program', async () => {
    const h = await harness({
      forms: (real) => ({ ...real, requestForm: () => Promise.reject(new Error('a bug')) }),
    })

    await expect(h.deliver('<jobs/>')).rejects.toThrow('a bug')
  })
})
