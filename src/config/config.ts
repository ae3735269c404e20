// The types of the effective configuration, which resolve.ts makes from the checked file. schema.ts describes the file.

import type { resolveConfig } from './resolve.ts'

/** Config is the effective configuration: all defaults applied, durations in ms, sizes in bytes, paths absolute. */
export type Config = ReturnType<typeof resolveConfig>

export type FeedConfig = Config['feeds'][number]
