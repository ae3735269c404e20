// Preloaded into a daemon (`--import`, after fast-time.ts): what it aborted gets 2,000 s to record its end instead of 5.
// On a busy machine a process that ends well may need more than 5 s, and would be ended by force.

const GRACE_MS = 5_000
const { setTimeout: original } = globalThis

globalThis.setTimeout = ((run: () => void, ms = 0, ...rest: []) =>
  original(run, ms === GRACE_MS ? 2_000_000 : ms, ...rest)) as typeof setTimeout
