// The journal lists the requests that the sandbox received, and lets tests wait for a condition, which each change
// checks again. The list holds no secret: no header, no query, and only the object's key of a form.

import { type Clock, SECOND } from '../lib/clock.ts'
import type { SandboxDatabase } from './database.ts'
import { SeenRequest } from './records.ts'

/** MOST_REQUESTS is the number of requests that stay listed; older ones are dropped. */
const MOST_REQUESTS = 100_000

export class Journal {
  readonly #clock: Clock
  readonly #database: SandboxDatabase
  readonly #entries: SeenRequest[]
  #last: number
  /** #checks are the conditions that somebody awaits. */
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
    // The list is trimmed rarely, because a trim moves all remaining entries.
    if (this.#entries.length >= 2 * MOST_REQUESTS) this.#entries.splice(0, MOST_REQUESTS)
    this.update(entry, {})
    return entry
  }

  /** update adds facts to an entry and checks every awaited condition again. */
  update(entry: SeenRequest, patch: Partial<SeenRequest>): void {
    Object.assign(entry, patch)
    for (const check of [...this.#checks]) check()
  }

  close(entry: SeenRequest): void {
    this.update(entry, { endedAt: this.#clock.now() })
    if (entry.route !== 'control') this.#database.saveRequest(entry)
  }

  /** list returns copies of all entries except control requests, oldest first. */
  list(): SeenRequest[] {
    return this.#entries.filter(({ route }) => route !== 'control').map((entry) => ({ ...entry }))
  }

  find(predicate: (request: SeenRequest) => boolean): SeenRequest | undefined {
    return structuredClone(this.#entries.find(predicate))
  }

  /**
   * waitFor resolves with the first result of `probe` that is not undefined. It rejects, with the text of `seen`, when
   * no request has made progress for `stillMs` (default 30 s).
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
