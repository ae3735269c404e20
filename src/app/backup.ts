// Copies the history. Apart from queries.ts, since who only asks loads nothing of it.

import type { Config } from '../config/config.ts'
import { backUp } from '../history/backup.ts'
import { historyFile } from './queries.ts'

/** Answers the size of the copy in bytes. Throws `FeedsyncError`. */
export const backUpHistory = (config: Config, to: string) => backUp(historyFile(config), to)
