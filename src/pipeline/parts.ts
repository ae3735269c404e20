// What every step of the way of a feed has at hand, from the listing to the clean-up.

import type { Config } from '../config/config.ts'
import type { RuleFor } from '../config/feeds.ts'
import type { FeedChecker } from '../feed/port.ts'
import type { Ledger } from '../history/ledger.ts'
import type { History } from '../history/port.ts'
import type { Clock } from '../lib/clock.ts'
import type { Conditions } from '../lib/conditions.ts'
import type { Log } from '../lib/log.ts'
import type { Spool } from '../spool/port.ts'

export interface Parts {
  /** The thread that a feed of so many bytes belongs to; null: they are not known. */
  checkerFor: (bytes: number | null) => FeedChecker
  clock: Clock
  conditions: Conditions
  config: Config
  history: History
  ledger: Ledger
  log: Log
  /** The feed that a path belongs to. */
  ruleFor: RuleFor
  spool: Spool
}
