import { describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/lib/clock.ts'
import { ClockSteps, isDue, isRecent, latestLegal } from '../../../src/lib/due.ts'

const NOW = Date.UTC(2027, 0, 4)

describe('a stored time', () => {
  it('is due once it is reached, and at once where nothing is to be waited for', () => {
    expect(isDue(null, NOW, HOUR)).toBe(true)
    expect(isDue(NOW, NOW, HOUR)).toBe(true)
    expect(isDue(NOW + 1, NOW, HOUR)).toBe(false)
  })

  it('is waited for as long as is legal, whatever small corrections the clock gets', () => {
    expect(isDue(NOW + HOUR, NOW, HOUR)).toBe(false)
    expect(isDue(NOW + HOUR, NOW - 30 * SECOND, HOUR)).toBe(false)
  })

  it('is due when it lies further ahead than anything may wait', () => {
    expect(isDue(NOW + HOUR + 2 * MINUTE, NOW, HOUR)).toBe(true)
    expect(isDue(NOW + 400 * DAY, NOW, HOUR)).toBe(true)
  })
})

it('a sign of life is recent within its time, on either side of now', () => {
  const at = [-2 * MINUTE, -MINUTE, 0, MINUTE, 2 * MINUTE, 400 * DAY].map((ms) => NOW + ms)

  expect(at.map((one) => isRecent(one, NOW, MINUTE))).toEqual([
    ...[false, true, true, true, false, false],
  ])
})

it('a past event may not bear a time of the future', () => {
  const latest = latestLegal(NOW, 0)

  expect([-400 * DAY, 0, SECOND, HOUR].map((ms) => NOW + ms <= latest)).toEqual([
    ...[true, true, true, false],
  ])
})

describe('the steps of a wall clock', () => {
  function clock() {
    const at = { wall: NOW, monotonic: 5 }
    const steps = new ClockSteps({ now: () => at.wall, monotonic: () => at.monotonic })
    return { at, steps }
  }

  it('are told once each, forward and back', () => {
    const { at, steps } = clock()

    at.wall += 400 * DAY
    const forward = [steps.take(), steps.take()]
    at.wall -= 400 * DAY
    const back = [steps.take(), steps.take()]

    expect([forward, back]).toEqual([
      [400 * DAY, 0],
      [-400 * DAY, 0],
    ])
  })

  it('are not the passing of time, nor what a clock is corrected by all the time', () => {
    const { at, steps } = clock()

    at.wall += 90 * DAY + SECOND
    at.monotonic += 90 * DAY

    expect(steps.take()).toBe(0)
  })

  it('are not what small corrections add up to over a year', () => {
    const { at, steps } = clock()

    const told = Array.from({ length: 400 }, () => {
      at.wall += DAY + SECOND
      at.monotonic += DAY
      return steps.take()
    })
    at.wall += 2 * MINUTE

    expect(new Set(told)).toEqual(new Set([0]))
    expect(steps.take()).toBe(2 * MINUTE)
  })
})
