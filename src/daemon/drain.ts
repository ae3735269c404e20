// What a daemon that stops waits for, one thing after the other, so that a forced end can say what for.

import type { Conditions } from '../lib/conditions.ts'

export class Drain {
  readonly #conditions: Conditions
  #waitsFor = 'its start'

  constructor(conditions: Conditions) {
    this.#conditions = conditions
  }

  async wait(what: string, ...work: readonly unknown[]): Promise<void> {
    this.#waitsFor = what
    await Promise.all(work)
    this.#waitsFor = 'its threads'
  }

  /** The process is about to be ended by force. */
  stuck(): void {
    this.#conditions.set('stop-stuck', {
      message: `feedsyncd was told to stop and still waited for ${this.#waitsFor}: it is ended by force`,
      hint: 'nothing is lost: the next start goes on from the history',
    })
  }
}
