// Pauses for some time, on a host whose clock is set while they last.

import { expect, it } from 'vitest'
import { WaitClock } from '../../../src/daemon/wait-clock.ts'
import { HOUR, MINUTE, SECOND, systemClock } from '../../../src/lib/clock.ts'
import { temporaryHistory } from '../../helpers/history/temporary.ts'

const NOON = Date.UTC(2026, 10, 22, 12)

/**
 * paused starts a pause of `forMs` in a daemon that looks every second, on a host whose wall clock is `ahead` by so many
 * ms.
 */
function paused(forMs: number, ahead: number) {
  const { history } = temporaryHistory()
  const time = { wall: NOON + ahead, monotonic: 0 }
  const clock = { ...systemClock, now: () => time.wall, monotonic: () => time.monotonic }
  let daemon = new WaitClock({ clock, history })
  history.pause({ feed: null, since: time.wall, until: time.wall + forMs, by: 'maria' })
  return {
    set: (by: number) => {
      time.wall += by
    },
    pass: (ms: number) => {
      for (let passed = 0; passed < ms; passed += SECOND) {
        time.wall += SECOND
        time.monotonic += SECOND
        daemon.look()
      }
    },
    restart: (ms: number) => {
      time.wall += ms
      time.monotonic = 0
      daemon = new WaitClock({ clock, history })
      daemon.start()
    },
    isPaused: () => history.pauses(time.wall).all.length === 1,
    left: () => (history.pauses(time.wall).all[0]?.until ?? 0) - time.wall,
  }
}

it.each([
  ['set back by two hours', 2 * HOUR],
  ['set back by a year', 365 * 24 * HOUR],
  ['set forward by a day', -24 * HOUR],
])(
  'a pause of two hours lasts two hours, and tells what is left, when the clock is %s',
  (_, ahead) => {
    const pause = paused(2 * HOUR, ahead)
    pause.pass(10 * MINUTE)

    pause.set(-ahead)
    pause.pass(SECOND)
    const left = pause.left()
    pause.pass(HOUR + 49 * MINUTE)
    const late = pause.isPaused()
    pause.pass(2 * MINUTE)

    expect(Math.abs(left - (HOUR + 50 * MINUTE))).toBeLessThanOrEqual(2 * SECOND)
    expect([late, pause.isPaused()]).toEqual([true, false])
  },
)

it('a pause goes on while no daemon runs, and after a restart lasts for what is left', () => {
  const pause = paused(2 * HOUR, 0)
  pause.pass(HOUR)

  pause.restart(30 * MINUTE)
  pause.pass(29 * MINUTE)
  const late = pause.isPaused()
  pause.pass(2 * MINUTE)

  expect([late, pause.isPaused()]).toEqual([true, false])
})

it('a clock that is set back while no daemon runs neither ends a pause nor adds to what is left', () => {
  const pause = paused(2 * HOUR, 0)
  pause.pass(HOUR)

  pause.restart(-5 * HOUR)

  expect(pause.isPaused()).toBe(true)
  expect(pause.left()).toBeLessThanOrEqual(HOUR + MINUTE)
})
