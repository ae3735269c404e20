// A clock by which everything that the program waits for comes ten times as soon: for daemons within the test's process.

import { type Clock, systemClock } from '../../src/lib/clock.ts'

const FACTOR = 10

export function quickClock(): Clock {
  const [wall, start] = [systemClock.now(), systemClock.monotonic()]
  const passed = () => (systemClock.monotonic() - start) * FACTOR
  return {
    now: () => Math.round(wall + passed()),
    monotonic: () => start + passed(),
    sleep: (ms, signal) => systemClock.sleep(ms / FACTOR, signal),
    // Watchdogs guard real sockets, so they run on real time.
    after: systemClock.after,
  }
}
