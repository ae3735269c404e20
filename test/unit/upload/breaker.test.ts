import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE, SECOND } from '../../../src/lib/clock.ts'
import { Breaker } from '../../../src/upload/breaker.ts'
import { harness, testClock } from '../../helpers/upload/harness.ts'

const FEED = '<jobs/>'

function breaker() {
  const clock = testClock()
  const it = new Breaker({ ...clock, now: () => clock.ahead, monotonic: () => clock.ahead })
  const request = (kind: 'up' | 'down' | 'nothing', retryAfterMs: number | null = null) => {
    const permit = it.enter()
    if (permit === null) return false
    it.leave(permit, kind === 'down' ? { reason: 'it is down', retryAfterMs } : kind)
    return true
  }
  const pass = (ms: number) => {
    clock.ahead += ms
  }
  return { it, request, pass }
}

describe('a breaker', () => {
  it('opens after five transient failures in a row, not before', () => {
    const { it, request } = breaker()

    const passed = [
      'down',
      'down',
      'down',
      'down',
      'up',
      'down',
      'down',
      'down',
      'down',
      'down',
    ].map((kind) => request(kind as 'up' | 'down'))

    expect(passed).not.toContain(false)
    expect(it.enter()).toBeNull()
    expect(it.waitMs()).toBe(5 * SECOND)
  })

  it('lets one probe through after 5 s, then after twice as long, up to 10 min', () => {
    const { it, request, pass } = breaker()
    for (let i = 0; i < 5; i++) request('down')
    const pauses: number[] = []

    for (let i = 0; i < 9; i++) {
      pauses.push(it.waitMs())
      pass(it.waitMs() - 1)
      expect(it.enter()).toBeNull()
      pass(1)
      expect(request('down')).toBe(true)
    }

    expect(pauses.map((ms) => ms / SECOND)).toEqual([5, 10, 20, 40, 80, 160, 320, 600, 600])
  })

  it('keeps the others back while the probe runs, and closes when it is answered', () => {
    const { it, request, pass } = breaker()
    for (let i = 0; i < 5; i++) request('down')
    pass(5 * SECOND)

    const probe = it.enter()

    expect(it.enter()).toBeNull()
    expect(it.health().state).toBe('down')
    it.leave(probe ?? { isProbe: false }, 'up')
    expect(request('up')).toBe(true)
    expect(it.health()).toEqual({ state: 'ok', reason: null, nextProbeAt: null })
  })

  it('sends another probe a minute later: the first may be a large file on a slow line', () => {
    const { it, request, pass } = breaker()
    for (let i = 0; i < 5; i++) request('down')
    pass(HOUR)
    const large = it.enter()
    pass(MINUTE - 1)
    const before = it.enter()
    pass(1)

    const small = it.enter()
    const third = it.enter()
    it.leave(small ?? { isProbe: false }, 'up')

    expect([large, before, small, third]).toEqual([
      { isProbe: true },
      null,
      { isProbe: true },
      null,
    ])
    expect(request('up')).toBe(true)
    it.leave(large ?? { isProbe: false }, 'up')
    expect(it.health().state).toBe('ok')
  })

  it('gives the probe to the next one when it taught nothing', () => {
    const { it, request, pass } = breaker()
    for (let i = 0; i < 5; i++) request('down')
    pass(5 * SECOND)

    expect(request('nothing')).toBe(true)

    expect(it.enter()).toMatchObject({ isProbe: true })
  })

  it('does not count what was under way when it opened', () => {
    const { it, request, pass } = breaker()
    const early = it.enter()
    for (let i = 0; i < 5; i++) request('down')
    pass(5 * SECOND)

    it.leave(early ?? { isProbe: true }, { reason: 'late', retryAfterMs: null })

    expect(it.waitMs()).toBe(0)
  })

  it('probes no sooner than the other side asked for', () => {
    const { it, request, pass } = breaker()

    for (let i = 0; i < 5; i++) request('down', MINUTE)

    expect(it.waitMs()).toBe(MINUTE)
    pass(MINUTE)
    request('down')
    expect(it.waitMs()).toBe(10 * SECOND)
  })

  it('waits whole milliseconds, since the history keeps no others', () => {
    const { it, request, pass } = breaker()
    for (let i = 0; i < 5; i++) request('down')

    pass(0.25)

    expect(it.waitMs()).toBe(5 * SECOND)
  })

  it('tells how the origin is, why, and when it asks again', () => {
    const { it, request } = breaker()
    const health = [it.health()]
    request('down')
    health.push(it.health())
    for (let i = 0; i < 4; i++) request('down')
    health.push(it.health())

    expect(health).toEqual([
      { state: 'unknown', reason: null, nextProbeAt: null },
      { state: 'degraded', reason: 'it is down', nextProbeAt: null },
      { state: 'down', reason: 'it is down', nextProbeAt: 5 * SECOND },
    ])
  })
})

describe('an endpoint that is down', () => {
  it('is not asked by any feed until its probe, and works on automatically afterwards', async () => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'storage', kind: 'answer', status: 500 })
    await h.deliver(FEED)
    const opening = await h.deliver(FEED)
    const asked = h.sandbox.requests().length
    const attempted = h.attempts.length

    const held = await h.deliver(FEED)

    expect(opening).toMatchObject({ kind: 'later', failure: { code: 'http-500' } })
    expect(held).toMatchObject({ kind: 'later', failure: { code: 'endpoint-down' } })
    expect(held.kind === 'later' && held.at - h.clock.now()).toBeLessThanOrEqual(5 * SECOND)
    expect(h.sandbox.requests()).toHaveLength(asked)
    expect(h.attempts).toHaveLength(attempted)
    expect(h.gate.health()).toMatchObject({
      state: 'down',
      reason: expect.stringContaining('500'),
    })

    h.sandbox.faults.clear()
    h.clock.ahead += 5 * SECOND
    expect((await h.deliver(FEED)).kind).toBe('stored')
    expect(h.gate.health().state).toBe('ok')
  })

  it('gets one probe, however many feeds wait', async () => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'service', kind: 'answer', status: 500 })
    for (let i = 0; i < 2; i++) await h.deliver(FEED)
    const asked = h.sandbox.requests().length
    h.clock.ahead += 5 * SECOND

    const results = await Promise.all(Array.from({ length: 20 }, () => h.deliver(FEED)))

    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['later']))
    expect(h.sandbox.requests()).toHaveLength(asked + 1)
  })

  it('is bothered a bounded number of times in half an hour with 200 feeds waiting', async () => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'service', kind: 'answer', status: 503 })

    for (const until = h.clock.ahead + 30 * MINUTE; h.clock.ahead < until; h.clock.ahead += MINUTE)
      await Promise.all(
        Array.from({ length: 200 }, (_, n) => h.deliver(FEED, { attemptsBefore: n })),
      )

    // All feeds at once before it opens, then the probes: 5 s, 10 s, 20 s and so on, seen once a minute.
    expect(h.sandbox.requests().length).toBeLessThanOrEqual(200 + 12)
  })
})
