// The types of the configuration that the program goes by, and its closed sets of words. What people write is in
// schema.ts; resolve.ts makes the effective configuration of it. This file has no behaviour.

import type { resolveConfig } from './resolve.ts'

/** The effective configuration: every default applied, durations in ms, sizes in bytes, paths absolute. */
export type Config = ReturnType<typeof resolveConfig>

export type FeedConfig = Config['feeds'][number]

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
