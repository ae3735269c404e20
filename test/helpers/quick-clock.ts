// A clock by which everything that the program waits for comes ten times as soon: for daemons within the test's process.

import { type Clock, systemClock } from '../../src/lib/clock.ts'

const FACTOR = 10

export interface QuickClock extends Clock {
  /** This much time has passed at once. */
  skip(ms: number): void
}

/** `ahead`: ms by which its wall clock is ahead, so that whatever was written last has rested as long as that. */
export function quickClock({ ahead = 0 } = {}): QuickClock {
  const [wall, start] = [systemClock.now() + ahead, systemClock.monotonic()]
  let skipped = 0
  const passed = () => (systemClock.monotonic() - start) * FACTOR + skipped
  return {
    now: () => Math.round(wall + passed()),
    monotonic: () => start + passed(),
    sleep: (ms, signal) => systemClock.sleep(ms / FACTOR, signal),
    // Watchdogs guard real sockets, so they run on real time.
    after: systemClock.after,
    skip: (ms) => {
      skipped += ms
    },
  }
}
