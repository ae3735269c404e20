// The types of the configuration that the program goes by. What people write is in schema.ts; resolve.ts makes the
// effective configuration of it. This file has no behaviour.

import type { resolveConfig } from './resolve.ts'

/** The effective configuration: every default applied, durations in ms, sizes in bytes, paths absolute. */
export type Config = ReturnType<typeof resolveConfig>

export type FeedConfig = Config['feeds'][number]
