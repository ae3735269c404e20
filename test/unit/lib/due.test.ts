import { describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/lib/clock.ts'
import { isDue, isRecent, latestLegal } from '../../../src/lib/due.ts'

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
