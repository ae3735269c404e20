// A clock by which everything that the program waits for comes ten times as soon: for daemons within the test's process.

import { type Clock, systemClock } from '../../src/lib/clock.ts'

interface Quick {
  /** How many times as soon. */
  factor?: number
  /** Ms by which its wall clock is ahead: whatever was written last has rested as long as that. */
  ahead?: number
}

export function quickClock({ factor = 10, ahead = 0 }: Quick = {}): Clock {
  const [wall, start] = [systemClock.now() + ahead, systemClock.monotonic()]
  const passed = () => (systemClock.monotonic() - start) * factor
  return {
    now: () => Math.round(wall + passed()),
    monotonic: () => start + passed(),
    sleep: (ms, signal) => systemClock.sleep(ms / factor, signal),
    // Watchdogs guard real sockets, so they run on real time.
    after: systemClock.after,
  }
}
