// Owns telling a refusal of one feed from a refusal of all (research/upload.md (a) row 19): when an origin
// refuses several deliveries one after the other and stores none between, the fault is with the origin and not
// with the feeds, and no person should have to retry thousands of them. Pure.

/** From the delivery on that makes so many, refusals are the origin's own trouble. */
const GENERAL_FROM = 3

export class GeneralRefusals {
  readonly #refused = new Map<string, Set<object>>()

  /** Whether this origin refuses whatever it is sent. */
  refused(origin: string, delivery: object): boolean {
    const refused = this.#refused.get(origin) ?? new Set()
    this.#refused.set(origin, refused)
    if (refused.size < GENERAL_FROM) refused.add(delivery)
    return refused.size >= GENERAL_FROM
  }

  accepted(origin: string): void {
    this.#refused.delete(origin)
  }
}
