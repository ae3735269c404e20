// Owns the uploads of the whole process: the retry of each delivery, and what they share. retry.ts says whether
// another attempt follows and when, send-gate.ts whether anything may be sent.

import type { Clock } from '../lib/clock.ts'
import type { HttpClient } from '../lib/http.ts'
import type { Log } from '../lib/log.ts'
import { retry } from '../lib/retry.ts'
import type { FormSource } from '../service/port.ts'
import { DeliveryRun, type RunParts } from './delivery-run.ts'
import type { Delivery, DeliveryResult, UploadCounters, Uploader } from './port.ts'
import { FORMS_PER_DELIVERY, POSTS_PER_FORM } from './retry.ts'
import type { SendGate } from './send-gate.ts'

export interface UploaderOptions {
  http: HttpClient
  forms: FormSource
  clock: Clock
  log: Log
  gate: SendGate
  /** From 0 to 1, as Math.random, its default. */
  random?: () => number
}

export class StorageUploader implements Uploader {
  readonly #parts: RunParts
  readonly #running = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()

  constructor(options: UploaderOptions) {
    const counters = { attempts: 0, stored: 0, failures: 0, bytesSent: 0 }
    this.#parts = { random: Math.random, ...options, counters }
  }

  deliver(delivery: Delivery, signal: AbortSignal): Promise<DeliveryResult> {
    const delivered = this.#deliver(delivery, AbortSignal.any([signal, this.#closing.signal]))
    this.#running.add(delivered)
    return delivered.finally(() => this.#running.delete(delivered))
  }

  counters(): UploadCounters {
    return { ...this.#parts.counters }
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
    return signal.aborted && againInMs !== null ? { kind: 'aborted' } : result
  }
}
