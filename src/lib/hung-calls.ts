// Remembers the calls about vendors' files that do not return. Each of these calls blocks a thread until it returns.

/** HungPath is a file or directory about which a call does not return. */
export interface HungPath {
  path: string
  /** Wall ms. */
  since: number
}

/** While this many calls hang, the thread of another call that hangs is not left. */
const MOST = 8

export class HungCalls {
  readonly #calls = new Map<string, HungPath>()
  readonly #ends = new Set<Promise<unknown>>()

  /** all returns the calls that hang, in the order in which they were added. */
  all(): HungPath[] {
    return [...this.#calls.values()]
  }

  has(path: string): boolean {
    return this.#calls.has(path)
  }

  /** mayLeave returns whether the thread of one more call that hangs may be left. */
  get mayLeave(): boolean {
    return this.#calls.size < MOST
  }

  /** add remembers a call until `end`, the end of its thread. The answer resolves when the call is forgotten. */
  add(call: HungPath, end: Promise<unknown>): Promise<unknown> {
    const ended = end.finally(() => {
      this.#calls.delete(call.path)
      this.#ends.delete(ended)
    })
    this.#calls.set(call.path, call)
    this.#ends.add(ended)
    return ended
  }

  /** ended resolves when no call hangs. */
  async ended(): Promise<void> {
    await Promise.all(this.#ends)
  }
}

/** longest returns the calls that have hung for at least `forMs`, the longest first. `now` is wall ms. */
export function longest(calls: readonly HungPath[], now: number, forMs: number): HungPath[] {
  return calls.filter(({ since }) => now - since >= forMs).toSorted((a, b) => a.since - b.since)
}
