// Owns waiting for something to become true in the sandbox. Tests await a condition that is looked
// at again after each change; nothing here polls or sleeps.

import { type Clock, MINUTE } from '../lib/clock.ts'

export class Changes {
  readonly #clock: Clock
  readonly #watchers = new Set<() => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Says that something changed: every waiting condition is looked at again. */
  notify(): void {
    for (const look of [...this.#watchers]) look()
  }

  /**
   * Resolves with the first answer of `probe` that is not undefined. Rejects after `timeoutMs` with
   * an error that names what was awaited and what is there instead.
   */
  waitFor<T>(
    what: string,
    probe: () => T | undefined,
    seen: () => string,
    timeoutMs = MINUTE,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#watchers.delete(look)
        timer.cancel()
      }
      const look = () => {
        try {
          const found = probe()
          if (found === undefined) return
          stop()
          resolve(found)
        } catch (error) {
          stop()
          reject(error)
        }
      }
      const timer = this.#clock.after(timeoutMs, () => {
        stop()
        reject(new Error(`waited ${timeoutMs} ms for ${what}; seen: ${seen()}`))
      })
      this.#watchers.add(look)
      look()
    })
  }
}
