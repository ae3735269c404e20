// A clock that runs ten times as fast as the system's, for daemons inside the test's process.

import { type Clock, systemClock } from '../../src/lib/clock.ts'

const FACTOR = 10

export interface QuickClock extends Clock {
  /** skip moves the clock by `ms` at once. */
  skip(ms: number): void
}

/**
 * quickClock returns a clock whose wall time is ahead by `ahead` ms, so that a file written now looks unchanged for so
 * long. Its watchdogs (`after`) run on real time.
 */
export function quickClock({ ahead = 0 } = {}): QuickClock {
  const [wall, start] = [systemClock.now() + ahead, systemClock.monotonic()]
  let skipped = 0
  const passed = () => (systemClock.monotonic() - start) * FACTOR + skipped
  return {
    now: () => Math.round(wall + passed()),
    monotonic: () => start + passed(),
    sleep: (ms, signal) => systemClock.sleep(ms / FACTOR, signal),
    // Watchdogs guard real sockets.
    after: systemClock.after,
    skip: (ms) => {
      skipped += ms
    },
  }
}
