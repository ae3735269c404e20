import { describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/lib/clock.ts'
import { isDue, isRecent, latestLegal } from '../../../src/lib/due.ts'

const NOW = Date.UTC(2027, 0, 4)

describe('a stored time', () => {
  it('is due once it is reached, not earlier, and at once if there is no time', () => {
    expect(isDue(null, NOW, HOUR)).toBe(true)
    expect(isDue(NOW, NOW, HOUR)).toBe(true)
    expect(isDue(NOW + 1, NOW, HOUR)).toBe(false)
  })

  it('is not due before the longest legal wait, in spite of small corrections of the clock', () => {
    expect(isDue(NOW + HOUR, NOW, HOUR)).toBe(false)
    expect(isDue(NOW + HOUR, NOW - 30 * SECOND, HOUR)).toBe(false)
  })

  it('is due if it lies further ahead than any legal wait', () => {
    expect(isDue(NOW + HOUR + 2 * MINUTE, NOW, HOUR)).toBe(true)
    expect(isDue(NOW + 400 * DAY, NOW, HOUR)).toBe(true)
  })
})

it('a heartbeat is recent within its time before and after now', () => {
  const at = [-2 * MINUTE, -MINUTE, 0, MINUTE, 2 * MINUTE, 400 * DAY].map((ms) => NOW + ms)

  expect(at.map((one) => isRecent(one, NOW, MINUTE))).toEqual([
    ...[false, true, true, true, false, false],
  ])
})

it('a past event can have a time of now or a second later, but not an hour later', () => {
  const latest = latestLegal(NOW, 0)

  expect([-400 * DAY, 0, SECOND, HOUR].map((ms) => NOW + ms <= latest)).toEqual([
    ...[true, true, true, false],
  ])
})
