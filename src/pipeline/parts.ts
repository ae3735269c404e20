// Parts are what every step of a feed's story uses, from the listing to the clean-up.

import type { Config } from '../config/config.ts'
import type { RuleFor } from '../config/feeds.ts'
import type { Conditions } from '../domain/conditions.ts'
import type { FeedChecker } from '../feed/port.ts'
import type { History } from '../history/port.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Spool } from '../spool/port.ts'
import type { Ledger } from './ledger.ts'

export interface Parts {
  /** checkerFor returns the checking thread for a feed of this size; null: the size is not known. */
  checkerFor: (bytes: number | null) => FeedChecker
  clock: Clock
  conditions: Conditions
  config: Config
  history: History
  ledger: Ledger
  log: Log
  /** ruleFor returns the feed and the rule of a path. */
  ruleFor: RuleFor
  spool: Spool
}
