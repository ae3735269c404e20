// Owns the uploads of the whole process: what they share (breakers, bandwidth, counters) and the waits
// between the attempts of a delivery. p-retry runs the attempts; retry.ts says whether and when.

import pRetry from 'p-retry'
import { type Clock, MINUTE } from '../lib/clock.ts'
import type { HttpClient } from '../lib/http.ts'
import type { Log } from '../lib/log.ts'
import type { FormSource } from '../service/port.ts'
import { Breakers } from './breaker.ts'
import { DeliveryRun, type RunParts, TryAgain } from './delivery-run.ts'
import { GeneralRefusals } from './general-refusals.ts'
import { Pacer } from './pacer.ts'
import type { Delivery, DeliveryResult, UploadCounters, Uploader, UploadHealth } from './port.ts'
import { RetryQuota } from './quota.ts'
import { FORMS_PER_DELIVERY, POSTS_PER_FORM } from './retry.ts'

export interface UploaderOptions {
  http: HttpClient
  forms: FormSource
  clock: Clock
  log: Log
  /** From 0 to 1, as Math.random, its default. */
  random?: () => number
  options?: {
    /** Bytes a second of all uploads together; null or absent: no limit. */
    maxRate?: number | null
    /** Ms in which not a byte moves; default 60 s: a window that a slow reader opens in steps needs half of it. */
    stallMs?: number
    /** Ms from the last byte that moved to the answer; default 2 min. */
    answerMs?: number
  }
}

/** What most lines to an ATS host reach; only decides whether a form is worth using. */
const USUAL_RATE = 10 * 1024 * 1024

export function createUploader(options: UploaderOptions): Uploader {
  return new StorageUploader(options)
}

class StorageUploader implements Uploader {
  readonly #parts: RunParts
  readonly #running = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()

  constructor({ http, forms, clock, log, random = Math.random, options = {} }: UploaderOptions) {
    const maxRate = options.maxRate ?? null
    this.#parts = {
      ...{ http, forms, clock, log, random },
      pacer: maxRate === null ? null : new Pacer(clock, maxRate),
      stallMs: options.stallMs ?? MINUTE,
      answerMs: options.answerMs ?? 2 * MINUTE,
      breakers: new Breakers(clock),
      quota: new RetryQuota(),
      general: new GeneralRefusals(),
      counters: { attempts: 0, stored: 0, failures: 0, bytesSent: 0 },
      storageOrigin: null,
      expectedRate: Math.min(maxRate ?? USUAL_RATE, USUAL_RATE),
    }
  }

  async deliver(delivery: Delivery, signal: AbortSignal): Promise<DeliveryResult> {
    const delivered = this.#deliver(delivery, AbortSignal.any([signal, this.#closing.signal]))
    this.#running.add(delivered)
    try {
      return await delivered
    } finally {
      this.#running.delete(delivered)
    }
  }

  health(): UploadHealth {
    return this.#parts.breakers.health(this.#origins)
  }

  openings(): number {
    return this.#parts.breakers.openings(this.#origins)
  }

  probeNow(): void {
    this.#parts.breakers.probeNow(this.#origins)
  }

  counters(): UploadCounters {
    return { ...this.#parts.counters }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled(this.#running)
  }

  get #origins(): string[] {
    const { forms, storageOrigin } = this.#parts
    return [forms.origin, ...(storageOrigin === null ? [] : [storageOrigin])]
  }

  async #deliver(delivery: Delivery, signal: AbortSignal): Promise<DeliveryResult> {
    const { clock } = this.#parts
    const run = new DeliveryRun(this.#parts, delivery, signal)
    const attempt = async (): Promise<DeliveryResult> =>
      signal.aborted ? { kind: 'aborted' } : run.attempt()
    try {
      // Without the signal: p-retry would drop the result of an attempt that ends while it aborts.
      return await pRetry(attempt, {
        retries: POSTS_PER_FORM * FORMS_PER_DELIVERY - 1,
        minTimeout: 0,
        shouldRetry: ({ error }) => error instanceof TryAgain,
        onFailedAttempt: async ({ error, retriesLeft }) => {
          if (error instanceof TryAgain && retriesLeft > 0) await clock.sleep(error.delayMs, signal)
        },
      })
    } catch (error) {
      if (error instanceof TryAgain) return error.result
      throw error
    }
  }
}
