// Opens the history for what a person decides. Apart from queries.ts, since who only asks loads nothing that
// writes.

import type { Config } from '../config/config.ts'
import { openHistory } from '../history/sqlite-history.ts'
import type { Clock } from '../lib/clock.ts'
import { historyFile } from './queries.ts'

/** Writable, beside a running daemon or without one. */
export const openForDecisions = (config: Config, clock: Clock) =>
  openHistory({ file: historyFile(config), clock, isExpected: config.state.expectHistory })
