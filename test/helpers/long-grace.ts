// Preloaded into a daemon (`--import`, after fast-time.ts): aborted work gets 2,000 s instead of 5 to record its end.
// On a busy machine, a correct process can need more than 5 s and would be ended by force.

const GRACE_MS = 5_000
const { setTimeout: original } = globalThis

globalThis.setTimeout = ((run: () => void, ms = 0, ...rest: []) =>
  original(run, ms === GRACE_MS ? 2_000_000 : ms, ...rest)) as typeof setTimeout
