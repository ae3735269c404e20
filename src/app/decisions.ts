// Opens the history for decisions of a person. Commands that only read load no code that writes, so this file is
// separate from queries.ts.

import type { Config } from '../config/config.ts'
import { openHistory } from '../history/sqlite-history.ts'
import type { Clock } from '../lib/clock.ts'
import { historyFile } from './queries.ts'

/** openForDecisions opens the history for writing, with or without a running daemon. */
export const openForDecisions = (config: Config, clock: Clock) =>
  openHistory({ file: historyFile(config), clock, isExpected: config.state.expectHistory })
