// Owns when the history is pruned, and keeps the write-ahead log of its database small.

import type { Config } from '../config/config.ts'
import type { Conditions } from '../domain/conditions.ts'
import type { History } from '../history/port.ts'
import { type Clock, DAY, HOUR, MINUTE } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { formatBytes } from '../lib/units.ts'
import type { Spool } from '../spool/port.ts'

interface UpkeepParts {
  clock: Clock
  /** clockSkewMs returns the service's clock minus this machine's, or null while it is unknown. */
  clockSkewMs: () => number | null
  conditions: Conditions
  history: History
  log: Log
  spool: Spool
  stateConfig: Config['state']
}

const PRUNE_MS = DAY
const PRUNE_RETRY_MS = HOUR
/** A feed that comes once a year keeps its last version for the next comparison, even when `historyFor` is shorter. */
const FEED_MS = 400 * DAY
/** Nothing is deleted when the clocks differ by more than this, because the whole history could seem old. */
const LARGEST_SKEW_MS = DAY
const LOG_LOOK_MS = MINUTE
/** A log of this size, in bytes, means that a reader has kept a transaction open for long. */
const LARGE_LOG = 256 * 2 ** 20

export class Upkeep {
  readonly #clock: Clock
  readonly #clockSkewMs: () => number | null
  readonly #conditions: Conditions
  readonly #history: History
  readonly #log: Log
  readonly #spool: Spool
  readonly #stateConfig: Config['state']
  /** Monotonic ms. */
  #nextPrune = 0
  /** Monotonic ms. */
  #nextLogLook = 0
  #pruning: Promise<void> = Promise.resolve()

  constructor(parts: UpkeepParts) {
    this.#clock = parts.clock
    this.#clockSkewMs = parts.clockSkewMs
    this.#conditions = parts.conditions
    this.#history = parts.history
    this.#log = parts.log
    this.#spool = parts.spool
    this.#stateConfig = parts.stateConfig
  }

  get pruning(): Promise<void> {
    return this.#pruning
  }

  /** keepLogSmall empties the log of the database each minute, and sets a condition while a reader makes it grow. */
  keepLogSmall(): void {
    const now = this.#clock.monotonic()
    if (now < this.#nextLogLook) return
    this.#nextLogLook = now + LOG_LOOK_MS
    const bytes = this.#history.keepLogSmall()
    if (bytes <= LARGE_LOG) {
      this.#conditions.clear('database-log-large')
      return
    }
    const message = `the log of the database has ${formatBytes(bytes)}, because another program reads the database in one long transaction`
    const hint = `find that program and end its transaction: fuser -v ${this.#stateConfig.directory}/feedsyncd.db`
    this.#conditions.set('database-log-large', { message, hint })
  }

  /**
   * prune begins once a day to forget old versions, in small steps, and only while the service's clock agrees with this
   * one: this machine alone cannot see that its clock is 400 days ahead. `failed` gets the error that ended a try, and
   * the next try follows after an hour.
   */
  prune(stop: AbortSignal, failed: (error: unknown) => void): void {
    if (this.#clock.monotonic() < this.#nextPrune) return
    const skewMs = this.#clockSkewMs()
    if (skewMs === null || Math.abs(skewMs) > LARGEST_SKEW_MS) return
    this.#nextPrune = this.#clock.monotonic() + PRUNE_MS
    const { historyForMs } = this.#stateConfig
    const now = this.#clock.now()
    const feeds = {
      endedBefore: now - Math.max(historyForMs, FEED_MS),
      removeCopy: (copy: string) => this.#spool.remove(copy),
    }
    const done = (forgotten: number) => {
      if (forgotten > 0)
        this.#log.info({ event: 'history.pruned', forgotten }, 'old history forgotten')
    }
    this.#pruning = this.#history.prune(now - historyForMs, stop, feeds).then(done, (error) => {
      this.#nextPrune = this.#clock.monotonic() + PRUNE_RETRY_MS
      failed(error)
    })
  }
}
