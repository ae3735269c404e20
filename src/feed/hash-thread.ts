// The thread that hashes one large feed while another one checks it: it starts with the job and ends with
// it, so that its memory is there only meanwhile. A small feed is checked before a thread could start.

import { statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { beside } from '../lib/beside.ts'
import { type Followed, giveUp, sharedState } from './hash-following.ts'
import type { CheckJob } from './port.ts'

const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 32 }

export class HashThread implements AsyncDisposable {
  readonly followed: Followed
  readonly #worker: Worker

  private constructor(followed: Followed) {
    const entry = beside('hash-worker', import.meta.url)
    this.followed = followed
    this.#worker = new Worker(entry, { workerData: followed, resourceLimits: RESOURCE_LIMITS })
    // Whatever ends it early, the checking thread does the rest by itself.
    this.#worker.on('error', () => giveUp(followed.shared))
    this.#worker.on('exit', () => giveUp(followed.shared))
    this.#worker.unref()
  }

  /** Null: a file of less than `least` bytes, or none that could be hashed. */
  static for({ source, root, copyTo, expected }: CheckJob, least: number): HashThread | null {
    const size = expected?.size ?? statSync(source, { throwIfNoEntry: false })?.size ?? 0
    if (size < least) return null
    return new HashThread({ size, source, root, expected, copy: copyTo, shared: sharedState() })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate()
  }
}
