// Row 25 of the decision table, the retry quota, and refusals that are about everybody.

import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE } from '../../src/lib/clock.ts'
import { Breaker, type Permit } from '../../src/upload/breaker.ts'
import { GeneralRefusals } from '../../src/upload/general-refusals.ts'
import { RetryQuota } from '../../src/upload/quota.ts'
import { codes, harness, outcomes, testClock } from './harness.ts'

const SLOW = { kind: 'down', reason: 'slow down', retryAfterMs: null, throttled: true } as const
const UP = { kind: 'up' } as const

function origin() {
  const clock = testClock()
  const now = () => clock.ahead
  const it = new Breaker({ ...clock, now, monotonic: now })
  const enter = (n: number) => Array.from({ length: n }, () => it.enter() as Permit)
  const pass = (ms: number) => {
    clock.ahead += ms
  }
  return { it, enter, pass }
}

describe('an origin that asks for less', () => {
  it('gets half of what ran, once for all that ran', () => {
    const { it, enter, pass } = origin()
    const running = enter(8)
    pass(1000)

    for (const permit of running.slice(0, 3)) it.leave(permit, SLOW)
    for (const permit of running.slice(3)) it.leave(permit, UP)

    expect(it.openings()).toBe(4)
  })

  it('gets half of that when it asks again, and never less than one', () => {
    const { it, enter, pass } = origin()
    const openings: number[] = []

    for (let n = 8; n >= 1; n = n === 1 ? 0 : it.openings()) {
      const running = enter(n)
      pass(1000)
      it.leave(running[0] as Permit, SLOW)
      for (const permit of running.slice(1)) it.leave(permit, UP)
      openings.push(it.openings())
    }

    expect(openings).toEqual([4, 2, 1, 1])
  })

  it('gets one more for each minute, until there is no limit', () => {
    const { it, enter, pass } = origin()
    const [permit] = enter(4)
    it.leave(permit as Permit, SLOW)
    const openings = [it.openings()]

    for (let n = 0; n < 3; n++) {
      pass(MINUTE)
      openings.push(it.openings())
    }
    pass(60 * MINUTE)

    // Three of them still run.
    expect(openings).toEqual([-1, 0, 1, 2].map((n) => Math.max(0, n)))
    expect(it.openings()).toBe(Number.POSITIVE_INFINITY)
  })

  it('lets nobody in while it is full, and soon again', () => {
    const { it, enter, pass } = origin()
    const [first] = enter(2)
    pass(1000)
    it.leave(first as Permit, SLOW)

    expect(it.enter()).toBeNull()
    expect(it.waitMs()).toBeGreaterThan(0)
    expect(it.waitMs()).toBeLessThan(5000)
  })
})

describe('the retry quota', () => {
  const paid = (quota: RetryQuota, throttled: boolean) => {
    let n = 0
    while (quota.pay('a', throttled) !== null) n += 1
    return n
  }

  it('pays 35 retries, or 100 of an origin that throttles, and those of another origin apart', () => {
    const quota = new RetryQuota()

    expect(paid(quota, false)).toBe(35)
    expect(paid(new RetryQuota(), true)).toBe(100)
    expect(quota.pay('b', false)).not.toBeNull()
  })

  it('has back what a retry cost once it succeeded, one for any other success, and never more than full', () => {
    const quota = new RetryQuota()
    const cost = quota.pay('a', false)
    quota.succeeded('a', cost)
    quota.succeeded('a', null)
    const full = paid(quota, false)
    for (let n = 0; n < 4; n++) quota.succeeded('a', null)

    expect(full).toBe(35)
    // 500 - 35 x 14 = 10, and 4 make another one.
    expect(paid(quota, false)).toBe(1)
  })

  it('is shared by all feeds: what finds it empty waits in the queue after one attempt', async () => {
    const h = await harness()
    const attempts: number[] = []
    // Every second form is refused for a while, so that no breaker opens.
    for (let n = 0; n < 40; n++) {
      h.sandbox.faults.clear()
      h.sandbox.faults.add({ at: 'storage', kind: 'answer', status: 500, times: 4 })
      const before = h.attempts.length
      await h.deliver('<jobs/>')
      attempts.push(h.attempts.length - before)
      h.clock.ahead += 15 * MINUTE
    }

    expect(attempts[0]).toBe(4)
    expect(attempts.at(-1)).toBe(1)
  })
})

describe('refusals of one feed after the other', () => {
  it('are general from the third on, whoever repeats, until one is accepted', () => {
    const general = new GeneralRefusals()
    const [a, b, c] = ['a', 'b', 'c'] as const

    const found = [a, a, b, b, c, a].map((feed) => general.refused('origin', feed))
    general.accepted('origin')

    expect(found).toEqual([false, false, false, false, true, true])
    expect(general.refused('origin', c)).toBe(false)
  })

  it.each([
    { at: 'storage', kind: 's3-error', code: 'SignatureDoesNotMatch' },
    { at: 'storage', kind: 's3-error', code: 'InvalidArgument' },
    { at: 'service', kind: 'answer', status: 404 },
  ] as const)('fail two feeds and let the others wait, until it is over: %o', async (fault) => {
    const h = await harness()
    const handle = h.sandbox.faults.add(fault)
    const kinds: string[] = []
    const patience = { failingMs: HOUR }

    for (let n = 0; n < 5; n++) kinds.push((await h.deliver('<jobs/>', patience)).kind)
    const last = await h.deliver('<jobs/>', patience)
    handle.remove()
    h.clock.ahead += 15 * MINUTE
    kinds.push((await h.deliver('<jobs/>', patience)).kind)

    expect(kinds).toEqual(['refused', 'refused', 'later', 'later', 'later', 'stored'])
    expect(last).toMatchObject({ failure: { reason: expect.stringContaining('one feed after') } })
  })
})

describe('a refusal of the credentials that worked a moment ago', () => {
  it('is asked about once more after two seconds, and forgotten when that works', async () => {
    const h = await harness()
    await h.deliver('<jobs/>')
    h.sandbox.faults.add({ at: 'service', kind: 'signature-mismatch', times: 1 })

    const result = await h.deliver('<jobs/>')

    expect(result.kind).toBe('stored')
    expect(codes(h)).toEqual([null, 'http-401', null])
    expect(h.clock.waits).toEqual([2000])
  })

  it('stands when it comes twice', async () => {
    const h = await harness()
    await h.deliver('<jobs/>')
    h.sandbox.faults.add({ at: 'service', kind: 'signature-mismatch' })

    const results = [await h.deliver('<jobs/>'), await h.deliver('<jobs/>')]

    expect(results.map(({ kind }) => kind)).toEqual(['credentials', 'credentials'])
    expect(outcomes(h)).toEqual(['stored', 'refused', 'refused', 'refused'])
  })
})
