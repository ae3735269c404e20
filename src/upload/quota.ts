// Owns the retries that an origin is worth, shared by all feeds (the token bucket of the AWS clients): in an
// outage each failing feed would otherwise repeat itself a dozen times. What is not paid for waits in the
// queue instead. Pure.

const FULL = 500
const COST = 14
/** An origin that is throttling answers at least. */
const COST_THROTTLED = 5
/** Of a success that needed no retry. */
const REWARD = 1

export class RetryQuota {
  readonly #tokens = new Map<string, number>()

  /** What was paid; null where there is not enough left. */
  pay(origin: string, throttled: boolean): number | null {
    const cost = throttled ? COST_THROTTLED : COST
    const left = this.#of(origin) - cost
    if (left < 0) return null
    this.#tokens.set(origin, left)
    return cost
  }

  /** `paid`: for the retry that succeeded. */
  succeeded(origin: string, paid: number | null): void {
    this.#tokens.set(origin, Math.min(FULL, this.#of(origin) + (paid ?? REWARD)))
  }

  #of(origin: string): number {
    return this.#tokens.get(origin) ?? FULL
  }
}
