// Owns when the history is pruned.

import { DAY, HOUR } from '../lib/clock.ts'
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

export type Upkeep = ReturnType<typeof createUpkeep>

export function createUpkeep({ clock, clockSkewMs, config, history, log, spool }: UpkeepParts) {
  /** Monotonic ms. */
  let nextPrune = 0
  let pruning: Promise<void> = Promise.resolve()
  return {
    get pruning(): Promise<void> {
      return pruning
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
