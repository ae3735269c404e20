// Things that wait for their turn in lanes, in order within a group whatever the lane: the next of a
// group may be taken once the one before it is done. Adding and taking cost the same at any length.

export interface LaneQueueOptions<T, L> {
  laneOf: (item: T) => L
  groupOf: (item: T) => string
}

export class LaneQueue<T, L> {
  readonly #options: LaneQueueOptions<T, L>
  /** Of each group, in order; the first one may be taken, or is being worked on. */
  readonly #groups = new Map<string, Set<T>>()
  /** Sets keep their order, and lose their first without moving the others. */
  readonly #free = new Map<L, Set<T>>()

  constructor(options: LaneQueueOptions<T, L>) {
    this.#options = options
  }

  /** True when nothing waits or is worked on. */
  get isEmpty(): boolean {
    return this.#groups.size === 0
  }

  add(item: T): void {
    const group = this.#options.groupOf(item)
    const before = this.#groups.get(group)
    if (before !== undefined) {
      before.add(item)
      return
    }
    this.#groups.set(group, new Set([item]))
    this.#lane(item).add(item)
  }

  /** True while one of the lane may be taken. */
  hasNext(lane: L): boolean {
    return (this.#free.get(lane)?.size ?? 0) > 0
  }

  /** The next of the lane; what is taken is to be given to `done`. */
  take(lane: L): T | undefined {
    const free = this.#free.get(lane)
    for (const item of free ?? []) {
      free?.delete(item)
      return item
    }
    return undefined
  }

  done(item: T): void {
    const name = this.#options.groupOf(item)
    const group = this.#groups.get(name)
    group?.delete(item)
    for (const next of group ?? []) {
      this.#lane(next).add(next)
      return
    }
    this.#groups.delete(name)
  }

  #lane(item: T): Set<T> {
    const lane = this.#options.laneOf(item)
    const free = this.#free.get(lane) ?? new Set()
    this.#free.set(lane, free)
    return free
  }
}
