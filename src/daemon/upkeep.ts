// Prunes the history: old versions are forgotten, and no younger ones.

import { DAY, HOUR } from '../lib/clock.ts'
import type { Parts } from '../pipeline/parts.ts'

export interface UpkeepParts extends Parts {
  /** Of the service against this machine's; null: not known yet. */
  clockSkewMs: () => number | null
}

const PRUNE_MS = DAY
const PRUNE_AGAIN_MS = HOUR
/** The next version of a feed that comes once a year is still compared with the last one, however short `historyFor` is. */
const FEED_MS = 400 * DAY
/** A clock that differs more from the service's deletes nothing: the whole history might seem to be old. */
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
     * Once a day, in small steps, and only while the service's clock agrees with this one: nothing on this
     * machine can tell that its clock runs 400 days ahead. `failed` is called with an error, which ends this try.
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
