import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE, SECOND } from '../../../src/lib/clock.ts'
import { Breaker } from '../../../src/upload/breaker.ts'
import { testClock } from '../../helpers/upload/harness.ts'

function openBreaker() {
  const clock = testClock()
  const breaker = new Breaker({ ...clock, now: () => clock.ahead, monotonic: () => clock.ahead })
  const request = (kind: 'up' | 'down' | 'nothing', retryAfterMs: number | null = null) => {
    const permit = breaker.enter()
    if (permit === null) return false
    breaker.leave(permit, kind === 'down' ? { reason: 'it is down', retryAfterMs } : kind)
    return true
  }
  const pass = (ms: number) => {
    clock.ahead += ms
  }
  return { breaker, request, pass }
}

describe('a breaker', () => {
  it('opens after five transient failures in a row, not earlier, and for 5 s', () => {
    const { breaker, request } = openBreaker()

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
    expect(breaker.enter()).toBeNull()
    expect(breaker.waitMs()).toBe(5 * SECOND)
  })

  it('sends a probe after 5 s, then after doubling waits of up to 10 min', () => {
    const { breaker, request, pass } = openBreaker()
    for (let i = 0; i < 5; i++) request('down')
    const pauses: number[] = []

    for (let i = 0; i < 9; i++) {
      pauses.push(breaker.waitMs())
      pass(breaker.waitMs() - 1)
      expect(breaker.enter()).toBeNull()
      pass(1)
      expect(request('down')).toBe(true)
    }

    expect(pauses.map((ms) => ms / SECOND)).toEqual([5, 10, 20, 40, 80, 160, 320, 600, 600])
  })

  it('sends nothing else and is down while the probe runs, and is ok and sends after an answer', () => {
    const { breaker, request, pass } = openBreaker()
    for (let i = 0; i < 5; i++) request('down')
    pass(5 * SECOND)

    const probe = breaker.enter()

    expect(breaker.enter()).toBeNull()
    expect(breaker.health().state).toBe('down')
    breaker.leave(probe ?? { isProbe: false }, 'up')
    expect(request('up')).toBe(true)
    expect(breaker.health()).toEqual({ state: 'ok', reason: null, nextProbeAt: null })
  })

  it('sends a second probe after a minute but no third, and sends again when the second is answered', () => {
    const { breaker, request, pass } = openBreaker()
    for (let i = 0; i < 5; i++) request('down')
    pass(HOUR)
    const large = breaker.enter()
    pass(MINUTE - 1)
    const before = breaker.enter()
    pass(1)

    const small = breaker.enter()
    const third = breaker.enter()
    breaker.leave(small ?? { isProbe: false }, 'up')

    expect([large, before, small, third]).toEqual([
      { isProbe: true },
      null,
      { isProbe: true },
      null,
    ])
    expect(request('up')).toBe(true)
  })

  it('lets the next request probe if the probe ended without a result', () => {
    const { breaker, request, pass } = openBreaker()
    for (let i = 0; i < 5; i++) request('down')
    pass(5 * SECOND)

    expect(request('nothing')).toBe(true)

    expect(breaker.enter()).toMatchObject({ isProbe: true })
  })

  it.each([
    ['failed', { reason: 'it is down', retryAfterMs: null }],
    ['ended without a result', 'nothing'],
  ] as const)(
    'keeps the time of the next probe if a probe that a person asked for %s',
    (_, end) => {
      const { breaker, request, pass } = openBreaker()
      for (let i = 0; i < 5; i++) request('down', MINUTE)
      pass(SECOND)

      breaker.leave(breaker.force(), end)

      expect(breaker.waitMs()).toBe(MINUTE - SECOND)
    },
  )

  it('does not wait longer for the failure of a request that was running when it opened', () => {
    const { breaker, request, pass } = openBreaker()
    const early = breaker.enter()
    for (let i = 0; i < 5; i++) request('down')
    pass(5 * SECOND)

    breaker.leave(early ?? { isProbe: true }, { reason: 'late', retryAfterMs: null })

    expect(breaker.waitMs()).toBe(0)
  })

  it('sends no probe before the time of Retry-After, and then doubles its own wait', () => {
    const { breaker, request, pass } = openBreaker()

    for (let i = 0; i < 5; i++) request('down', MINUTE)

    expect(breaker.waitMs()).toBe(MINUTE)
    pass(MINUTE)
    request('down')
    expect(breaker.waitMs()).toBe(10 * SECOND)
  })

  it('waits whole milliseconds, because the history stores only these', () => {
    const { breaker, request, pass } = openBreaker()
    for (let i = 0; i < 5; i++) request('down')

    pass(0.25)

    expect(breaker.waitMs()).toBe(5 * SECOND)
  })

  it('reports the state of the origin, the reason and the time of the next probe', () => {
    const { breaker, request } = openBreaker()
    const health = [breaker.health()]
    request('down')
    health.push(breaker.health())
    for (let i = 0; i < 4; i++) request('down')
    health.push(breaker.health())

    expect(health).toEqual([
      { state: 'unknown', reason: null, nextProbeAt: null },
      { state: 'degraded', reason: 'it is down', nextProbeAt: null },
      { state: 'down', reason: 'it is down', nextProbeAt: 5 * SECOND },
    ])
  })
})
