// A clock by which everything that the program waits for comes ten times as soon: for daemons within the test's process.

import { type Clock, systemClock } from '../../src/lib/clock.ts'

interface Quick {
  /** How many times as soon. */
  factor?: number
  /** Ms by which its wall clock is ahead: whatever was written last has rested as long as that. */
  ahead?: number
}

export interface QuickClock extends Clock {
  /** This much time has passed at once. */
  skip(ms: number): void
}

export function quickClock({ factor = 10, ahead = 0 }: Quick = {}): QuickClock {
  const [wall, start] = [systemClock.now() + ahead, systemClock.monotonic()]
  let skipped = 0
  const passed = () => (systemClock.monotonic() - start) * factor + skipped
  return {
    now: () => Math.round(wall + passed()),
    monotonic: () => start + passed(),
    sleep: (ms, signal) => systemClock.sleep(ms / factor, signal),
    // Watchdogs guard real sockets, so they run on real time.
    after: systemClock.after,
    skip: (ms) => {
      skipped += ms
    },
  }
}
