// Owns telling a refusal of one feed from a refusal of all: when an origin
// refuses several feeds one after the other and stores none between, the fault is with the origin and not
// with the feeds, and no person should have to retry thousands of them. Pure.

/** From the feed on that makes so many, refusals are the origin's own trouble. */
const GENERAL_FROM = 3

export class GeneralRefusals {
  readonly #refused = new Map<string, Set<string>>()

  /** Whether this origin refuses whatever it is sent. */
  refused(origin: string, feed: string): boolean {
    const refused = this.#refused.get(origin) ?? new Set()
    this.#refused.set(origin, refused)
    if (refused.size < GENERAL_FROM) refused.add(feed)
    return refused.size >= GENERAL_FROM
  }

  accepted(origin: string): void {
    this.#refused.delete(origin)
  }
}
