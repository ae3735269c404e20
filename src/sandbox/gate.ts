// Holds requests until a test lets them go: a test then knows where a request is, however slow the machine.

export class Gate {
  #held = 0
  #open = false
  #released = Promise.withResolvers<void>()

  /** How many requests wait here now. */
  get held(): number {
    return this.#held
  }

  get isOpen(): boolean {
    return this.#open
  }

  /** Returns when the request may go on, or when `over` resolves first. */
  async hold(over: Promise<void>): Promise<void> {
    this.#held++
    await Promise.race([this.#released.promise, over])
    this.#held--
  }

  /** Lets the requests go that wait now; later ones are held. */
  release(): void {
    this.#released.resolve()
    this.#released = Promise.withResolvers()
  }

  /** Lets everything pass from now on. */
  open(): void {
    this.#open = true
    this.release()
  }
}
