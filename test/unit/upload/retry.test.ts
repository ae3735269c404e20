import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE, SECOND } from '../../../src/lib/clock.ts'
import { failureOf, RULES, type Rule } from '../../../src/lib/decision-table.ts'
import { fullJitter } from '../../../src/lib/retry.ts'
import { CURVES, queueDelay, RetryBudget } from '../../../src/upload/retry.ts'

const failure = (rule: Rule, retryAfterMs: number | null = null) =>
  failureOf(rule, { code: 'x', reason: 'x', retryAfterMs })

describe('the wait', () => {
  it.each([
    ['transient', [500, 1000, 2000, 30_000]],
    ['upload', [1000, 2000, 4000, 60_000]],
    ['throttled', [2500, 5000, 10_000, 150_000]],
    ['job', [30_000, 60_000, 120_000, 900_000]],
  ] as const)('of the curve "%s" doubles up to its cap', (curve, expected) => {
    expect([0, 1, 2, 20].map((n) => fullJitter(CURVES[curve], n, () => 0.5))).toEqual(expected)
  })

  it('is never below 100 ms', () => {
    expect(fullJitter(CURVES.transient, 0, () => 0)).toBe(100)
  })

  it('of a queued version grows with the attempts that were made of it', () => {
    expect([1, 4, 5, 9, 999].map((attempts) => queueDelay(attempts, () => 1))).toEqual([
      ...[MINUTE, MINUTE, 2 * MINUTE, 4 * MINUTE, 30 * MINUTE],
    ])
  })
})

describe('the budget', () => {
  it('ends after twelve posts, whatever happens', () => {
    const rules = fc.constantFrom(...Object.values(RULES))
    fc.assert(
      fc.property(fc.array(rules, { minLength: 13, maxLength: 13 }), (failures) => {
        const budget = new RetryBudget(() => 0)
        let posts = 0
        let forms = 0
        let needsForm = true
        for (const rule of failures) {
          if (needsForm) {
            budget.formAsked()
            forms += 1
          }
          budget.posted()
          posts += 1
          const step = budget.next(failure(rule), 0)
          if (step.kind !== 'again') break
          needsForm = step.form === 'new'
        }
        expect(posts).toBeLessThanOrEqual(12)
        expect(forms).toBeLessThanOrEqual(3)
      }),
      { seed: 11, numRuns: 300 },
    )
  })

  it('lets Retry-After replace a shorter wait only', () => {
    const budget = new RetryBudget(() => 1)
    budget.formAsked()
    budget.posted()

    expect(budget.next(failure(RULES.storageError, 30 * SECOND), 0)).toMatchObject({
      delayMs: 30_000,
    })
    expect(budget.next(failure(RULES.storageError, 1), 0)).toMatchObject({ delayMs: 4000 })
  })

  it('puts off what must wait longer than a minute', () => {
    const budget = new RetryBudget(() => 1)
    budget.formAsked()
    budget.posted()

    expect(budget.next(failure(RULES.throttled, HOUR), 0)).toEqual({ kind: 'later', delayMs: HOUR })
  })
})
