import { describe, expect, it } from 'vitest'
import type { Rule } from '../../../src/domain/decision-rule.ts'
import { failureOf, RULES } from '../../../src/domain/decision-table.ts'
import { HOUR, MINUTE, SECOND } from '../../../src/lib/clock.ts'
import { waitAfter } from '../../../src/pipeline/decide/wait.ts'

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
      expect([1, 2, 3, 1000].map((n) => waitAfter(failure(rule), n, 0.5))).toEqual(expected)
    },
  )

  it('is never below 100 ms', () => {
    expect(waitAfter(failure(RULES.noForm), 1, 0)).toBe(100)
  })

  it('is never shorter than Retry-After', () => {
    const waits = [HOUR, 1].map((ms) => waitAfter(failure(RULES.throttled, ms), 1, 1))

    expect(waits).toEqual([HOUR, 5 * SECOND])
  })
})
