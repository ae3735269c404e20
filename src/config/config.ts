// The effective configuration, which resolve.ts makes from the checked file. schema.ts describes the file.

import { join } from 'node:path'
import type { resolveConfig } from './resolve.ts'

/** Config is the effective configuration: all defaults applied, durations in ms, sizes in bytes, paths absolute. */
export type Config = ReturnType<typeof resolveConfig>

export type FeedConfig = Config['feeds'][number]

/** historyFile returns the absolute path of the database. */
export const historyFile = ({ state }: Pick<Config, 'state'>) =>
  join(state.directory, 'feedsyncd.db')
