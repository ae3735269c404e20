// Things that wait for their turn in lanes, in order within a group whatever the lane: the next of a
// group may be taken once the one before it is done. Adding and taking cost the same at any length.

export class LaneQueue<T extends { lane: L; group: string }, L = T['lane']> {
  /** Of each group, in order; the first one may be taken, or is being worked on. */
  readonly #groups = new Map<string, Set<T>>()
  /** Sets keep their order, and lose their first without moving the others. */
  readonly #free = new Map<L, Set<T>>()

  /** True when nothing waits or is worked on. */
  get isEmpty(): boolean {
    return this.#groups.size === 0
  }

  add(item: T): void {
    const before = this.#groups.get(item.group)
    if (before !== undefined) {
      before.add(item)
      return
    }
    this.#groups.set(item.group, new Set([item]))
    this.#lane(item).add(item)
  }

  /** True while one of the lane may be taken. */
  hasNext(lane: L): boolean {
    return (this.#free.get(lane)?.size ?? 0) > 0
  }

  /** The next of the lane; what is taken is to be given to `done`. */
  take(lane: L): T | undefined {
    const free = this.#free.get(lane)
    const [next] = free ?? []
    if (next !== undefined) free?.delete(next)
    return next
  }

  done(item: T): void {
    const group = this.#groups.get(item.group)
    group?.delete(item)
    const [next] = group ?? []
    if (next === undefined) this.#groups.delete(item.group)
    else this.#lane(next).add(next)
  }

  #lane({ lane }: T): Set<T> {
    const free = this.#free.get(lane) ?? new Set()
    this.#free.set(lane, free)
    return free
  }
}
