// Copies the history. Commands that only read do not load this file, so it is separate from queries.ts.

import type { Config } from '../config/config.ts'
import { backUp } from '../history/backup.ts'
import { historyFile } from './queries.ts'

/** backUpHistory copies the history and returns the size of the copy in bytes. It throws `FeedsyncError`. */
export const backUpHistory = (config: Config, to: string) => backUp(historyFile(config), to)
