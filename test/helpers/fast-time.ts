// Preloaded into a child (`--import`, in each of its threads): its clocks run ten times as fast as the machine's,
// so that a pause of 5 s takes half a second. Timers of at most FEEDSYNCD_REAL_TIMERS ms keep their time: a busy
// machine needs it.

const FACTOR = 10
const REAL_TIMERS = Number(process.env.FEEDSYNCD_REAL_TIMERS ?? 0)
const { now } = Date
const monotonic = performance.now.bind(performance)
const [wallStart, start] = [now(), monotonic()]
const { setTimeout: original } = globalThis

Date.now = () => Math.round(wallStart + (now() - wallStart) * FACTOR)
performance.now = () => start + (monotonic() - start) * FACTOR
globalThis.setTimeout = ((run: () => void, ms = 0, ...rest: []) =>
  original(run, ms > REAL_TIMERS ? ms / FACTOR : ms, ...rest)) as typeof setTimeout
