// Owns when the history is pruned, and keeps the log of its database small.

import { DAY, HOUR, MINUTE } from '../lib/clock.ts'
import { formatBytes } from '../lib/units.ts'
import type { Parts } from '../pipeline/parts.ts'

export interface UpkeepParts extends Parts {
  /** clockSkewMs returns the service's clock minus this machine's, or null while it is unknown. */
  clockSkewMs: () => number | null
}

const PRUNE_MS = DAY
const PRUNE_AGAIN_MS = HOUR
/** A feed that comes once a year keeps its last version for the next comparison, even when `historyFor` is shorter. */
const FEED_MS = 400 * DAY
/** Nothing is deleted when the clocks differ by more than this, because the whole history could seem old. */
const LARGEST_SKEW_MS = DAY
const LOG_LOOK_MS = MINUTE
/** A log of this size, in bytes, means that a reader has kept a transaction open for long. */
const LARGE_LOG = 256 * 2 ** 20

export type Upkeep = ReturnType<typeof createUpkeep>

export function createUpkeep({
  clock,
  clockSkewMs,
  conditions,
  config,
  history,
  log,
  spool,
}: UpkeepParts) {
  /** Monotonic ms. */
  let nextPrune = 0
  let nextLogLook = 0
  let pruning: Promise<void> = Promise.resolve()
  return {
    get pruning(): Promise<void> {
      return pruning
    },

    /** keepLogSmall empties the log of the database each minute, and sets a condition while a reader makes it grow. */
    keepLogSmall(): void {
      if (clock.monotonic() < nextLogLook) return
      nextLogLook = clock.monotonic() + LOG_LOOK_MS
      const bytes = history.keepLogSmall()
      if (bytes <= LARGE_LOG) {
        conditions.clear('database-log-large')
        return
      }
      const message = `the log of the database has ${formatBytes(bytes)}, because another program reads the database in one long transaction`
      const hint = `find that program and end its transaction: fuser -v ${config.state.directory}/feedsyncd.db`
      conditions.set('database-log-large', { message, hint })
    },

    /**
     * prune forgets old versions once a day, in small steps, and only while the service's clock agrees with this one:
     * this machine alone cannot see that its clock is 400 days ahead. `failed` gets the error that ended a try.
     */
    prune(stop: AbortSignal, failed: (error: unknown) => void): void {
      if (clock.monotonic() < nextPrune) return
      const skewMs = clockSkewMs()
      if (skewMs === null || Math.abs(skewMs) > LARGEST_SKEW_MS) return
      nextPrune = clock.monotonic() + PRUNE_MS
      const { historyForMs } = config.state
      const before = clock.now() - historyForMs
      const feeds = {
        endedBefore: clock.now() - Math.max(historyForMs, FEED_MS),
        removeCopy: (copy: string) => spool.remove(copy),
      }
      const done = (forgotten: number) => {
        if (forgotten > 0) log.info({ event: 'history.pruned', forgotten }, 'old history forgotten')
      }
      pruning = history.prune(before, stop, feeds).then(done, (error) => {
        nextPrune = clock.monotonic() + PRUNE_AGAIN_MS
        failed(error)
      })
    },
  }
}
