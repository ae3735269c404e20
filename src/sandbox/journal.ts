// What the sandbox saw, and waiting for it. A test awaits a condition, which is checked again at each change.
// The list of requests holds no secret: no header, no query, no form field but the object's key.

import { type Clock, SECOND } from '../lib/clock.ts'
import type { SandboxDatabase } from './database.ts'
import { SeenRequest } from './records.ts'

/** So many requests are remembered; then the oldest are forgotten. */
const MOST_REQUESTS = 100_000

export class Journal {
  readonly #clock: Clock
  readonly #database: SandboxDatabase
  readonly #entries: SeenRequest[]
  #last: number
  /** Conditions that are awaited. */
  readonly #checks = new Set<() => void>()

  constructor(clock: Clock, database: SandboxDatabase) {
    this.#clock = clock
    this.#database = database
    this.#entries = database.requests(MOST_REQUESTS)
    this.#last = this.#entries.at(-1)?.n ?? 0
  }

  open(facts: Pick<SeenRequest, 'side' | 'connection'> & Partial<SeenRequest>): SeenRequest {
    const [n, startedAt] = [++this.#last, this.#clock.now()]
    const entry = Object.assign(new SeenRequest(), { ...facts, n, startedAt })
    this.#entries.push(entry)
    // Rarely, since it moves all the others.
    if (this.#entries.length >= 2 * MOST_REQUESTS) this.#entries.splice(0, MOST_REQUESTS)
    this.update(entry, {})
    return entry
  }

  /** Notes what is known now; every condition that is awaited is checked again. */
  update(entry: SeenRequest, patch: Partial<SeenRequest>): void {
    Object.assign(entry, patch)
    for (const check of [...this.#checks]) check()
  }

  close(entry: SeenRequest): void {
    this.update(entry, { endedAt: this.#clock.now() })
    if (entry.route !== 'control') this.#database.saveRequest(entry)
  }

  /** Copies of all but control requests, oldest first. */
  list(): SeenRequest[] {
    return this.#entries.filter(({ route }) => route !== 'control').map((entry) => ({ ...entry }))
  }

  find(predicate: (request: SeenRequest) => boolean): SeenRequest | undefined {
    return structuredClone(this.#entries.find(predicate))
  }

  /**
   * Resolves with the first answer of `probe` that is not undefined. Rejects with what was `seen` once no request has
   * moved for `stillMs` (default 30 s).
   */
  async waitFor<T>(
    what: string,
    probe: () => T | undefined,
    seen: () => string,
    stillMs = 30 * SECOND,
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const giveUp = () => reject(new Error(`waited for ${what}; seen: ${seen()}`))
    let timer = this.#clock.after(stillMs, giveUp)
    const check = () => {
      timer[Symbol.dispose]()
      timer = this.#clock.after(stillMs, giveUp)
      try {
        const found = probe()
        if (found !== undefined) resolve(found)
      } catch (error) {
        reject(error)
      }
    }
    this.#checks.add(check)
    check()
    return await promise.finally(() => {
      this.#checks.delete(check)
      timer[Symbol.dispose]()
    })
  }
}
