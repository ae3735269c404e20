import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE, SECOND } from '../../../src/lib/clock.ts'
import { Breaker } from '../../../src/upload/breaker.ts'
import { testClock } from '../../helpers/upload/harness.ts'

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
  it('opens after five transient failures in a row, and not earlier', () => {
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

  it('sends a probe after 5 s, then after doubling waits of up to 10 min', () => {
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

  it('sends nothing else while the probe runs, and closes after an answer', () => {
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

  it('sends another probe after a minute, because the first may be a large file', () => {
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

  it('lets the next request probe if the probe ended without a result', () => {
    const { it, request, pass } = breaker()
    for (let i = 0; i < 5; i++) request('down')
    pass(5 * SECOND)

    expect(request('nothing')).toBe(true)

    expect(it.enter()).toMatchObject({ isProbe: true })
  })

  it('does not count requests that were running when it opened', () => {
    const { it, request, pass } = breaker()
    const early = it.enter()
    for (let i = 0; i < 5; i++) request('down')
    pass(5 * SECOND)

    it.leave(early ?? { isProbe: true }, { reason: 'late', retryAfterMs: null })

    expect(it.waitMs()).toBe(0)
  })

  it('sends no probe before the time of Retry-After', () => {
    const { it, request, pass } = breaker()

    for (let i = 0; i < 5; i++) request('down', MINUTE)

    expect(it.waitMs()).toBe(MINUTE)
    pass(MINUTE)
    request('down')
    expect(it.waitMs()).toBe(10 * SECOND)
  })

  it('waits whole milliseconds, because the history stores only these', () => {
    const { it, request, pass } = breaker()
    for (let i = 0; i < 5; i++) request('down')

    pass(0.25)

    expect(it.waitMs()).toBe(5 * SECOND)
  })

  it('reports the state of the origin, the reason and the time of the next probe', () => {
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
