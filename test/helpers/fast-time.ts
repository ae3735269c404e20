// Preloaded into a child (`--import`, in each of its threads): its clocks run ten times as fast as the machine's
// (FEEDSYNCD_TIME_FACTOR), so that a pause of 5 s takes half a second. Timers of at most FEEDSYNCD_REAL_TIMERS ms keep
// their real time, because a busy machine needs it. Waits (`timers/promises`) are always ten times as short.

import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'

const FACTOR = Number(process.env.FEEDSYNCD_TIME_FACTOR ?? 10)
const REAL_TIMERS = Number(process.env.FEEDSYNCD_REAL_TIMERS ?? 0)
const { now } = Date
const monotonic = performance.now.bind(performance)
const [wallStart, start] = [now(), monotonic()]
const { setTimeout: original } = globalThis
const { setTimeout: wait } = timers

Date.now = () => Math.round(wallStart + (now() - wallStart) * FACTOR)
performance.now = () => start + (monotonic() - start) * FACTOR
globalThis.setTimeout = ((run: () => void, ms = 0, ...rest: []) =>
  original(run, ms > REAL_TIMERS ? ms / FACTOR : ms, ...rest)) as typeof setTimeout
timers.setTimeout = ((ms = 0, ...rest: []) => wait(ms / FACTOR, ...rest)) as typeof wait
syncBuiltinESMExports()
