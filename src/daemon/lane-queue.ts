// A queue with lanes. Items of one group keep their order across all lanes: the next item of a group becomes free once
// the previous one is done. Adding and taking cost the same at any length.

export class LaneQueue<T extends { lane: L; group: string }, L = T['lane']> {
  /** The items of each group, in order. The first item is free or taken; the others wait for it. */
  readonly #groups = new Map<string, Set<T>>()
  /** The free items of each lane. A Set keeps their order and drops the first one without moving the others. */
  readonly #free = new Map<L, Set<T>>()

  /** isEmpty is true when no item waits and none is taken. */
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

  hasNext(lane: L): boolean {
    return (this.#free.get(lane)?.size ?? 0) > 0
  }

  /**
   * take removes and returns the next free item of the lane; undefined if the lane has none. The caller must later pass
   * the item to `done`.
   */
  take(lane: L): T | undefined {
    const free = this.#free.get(lane)
    const [next] = free ?? []
    if (next !== undefined) free?.delete(next)
    return next
  }

  /** done forgets an item that was taken, and frees the next item of its group. */
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
