// Owns the uploads of the whole process: the retry of each delivery, and what they share. retry.ts says whether
// another attempt follows and when, send-gate.ts whether anything may be sent.

import { retry } from '../lib/retry.ts'
import { DeliveryRun, type RunParts } from './delivery-run.ts'
import type { Delivery, DeliveryResult, Uploader } from './port.ts'
import { FailingTimes, FORMS_PER_DELIVERY, POSTS_PER_FORM } from './retry.ts'

/** `random`: from 0 to 1, as Math.random, its default. */
export type UploaderOptions = Omit<RunParts, 'random' | 'onSent' | 'failing'> &
  Partial<Pick<RunParts, 'random'>>

export class StorageUploader implements Uploader {
  readonly #parts: RunParts
  readonly #running = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()
  #bytesSent = 0

  constructor(options: UploaderOptions) {
    const onSent = (bytes: number) => {
      this.#bytesSent += bytes
    }
    const failing = new FailingTimes(options.clock)
    this.#parts = { random: Math.random, ...options, onSent, failing }
  }

  get bytesSent(): number {
    return this.#bytesSent
  }

  deliver(delivery: Delivery, signal: AbortSignal): Promise<DeliveryResult> {
    const delivered = this.#deliver(delivery, AbortSignal.any([signal, this.#closing.signal]))
    this.#running.add(delivered)
    return delivered.finally(() => this.#running.delete(delivered))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled(this.#running)
  }

  async #deliver(delivery: Delivery, signal: AbortSignal): Promise<DeliveryResult> {
    const run = new DeliveryRun(this.#parts, delivery, signal)
    const { result, againInMs } = await retry(
      () => run.attempt(),
      (ended) => ended.againInMs,
      { clock: this.#parts.clock, signal, tries: POSTS_PER_FORM * FORMS_PER_DELIVERY },
    )
    if (result.kind !== 'later') this.#parts.failing.ended(delivery.id)
    return signal.aborted && againInMs !== null ? { kind: 'aborted' } : result
  }
}
