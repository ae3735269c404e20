// Prunes the history: old versions are forgotten, and no younger ones.

import type { Settings } from '../config/config.ts'
import type { Versions } from '../history/port.ts'
import { type Clock, DAY, HOUR } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Deliveries } from './deliveries.ts'

export interface UpkeepParts {
  clock: Clock
  log: Log
  history: Pick<Versions, 'prune'>
  deliveries: Pick<Deliveries, 'health'>
  /** What is older than `state.historyForMs` and settled is forgotten. */
  settings: Settings<'state'>
}

const PRUNE_MS = DAY
const PRUNE_AGAIN_MS = HOUR
/** A clock that differs more from the service's deletes nothing: the whole history might seem to be old. */
const LARGEST_SKEW_MS = DAY

export class Upkeep {
  readonly #parts: UpkeepParts
  /** Monotonic ms. */
  #nextPrune = 0
  #pruning: Promise<void> = Promise.resolve()

  constructor(parts: UpkeepParts) {
    this.#parts = parts
  }

  get pruning(): Promise<void> {
    return this.#pruning
  }

  /**
   * Once a day, in small steps, and only while the service's clock agrees with this one: nothing on this
   * machine can tell that its clock runs 400 days ahead. `failed` is called with an error, which ends this try.
   */
  prune(stop: AbortSignal, failed: (error: unknown) => void): void {
    const { clock, deliveries, history, log, settings } = this.#parts
    if (clock.monotonic() < this.#nextPrune) return
    const { clockSkewMs } = deliveries.health()
    if (clockSkewMs === null || Math.abs(clockSkewMs) > LARGEST_SKEW_MS) return
    this.#nextPrune = clock.monotonic() + PRUNE_MS
    this.#pruning = history
      .prune(clock.now() - settings.current.state.historyForMs, stop)
      .then((forgotten) => {
        if (forgotten > 0) log.info({ event: 'history.pruned', forgotten }, 'old history forgotten')
      })
      .catch((error) => {
        this.#nextPrune = clock.monotonic() + PRUNE_AGAIN_MS
        failed(error)
      })
  }
}
