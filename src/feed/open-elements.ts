// The elements that are open, in the skimmer's memory, since it opens and closes them too.

import type { Name, NameTable } from './names.ts'
import { type Skimmer, State } from './skimmer.ts'

export class OpenElements {
  readonly #skimmer: Skimmer
  readonly #table: NameTable
  /** The names of those that have no entry there. */
  readonly #names: Name[] = []

  constructor(skimmer: Skimmer, table: NameTable) {
    this.#skimmer = skimmer
    this.#table = table
  }

  get depth(): number {
    return this.#skimmer.state[State.depth] as number
  }

  /** The innermost one. */
  get last(): Name | undefined {
    return this.#at(this.depth - 1)
  }

  /** Where in the document its start tag is. */
  get lastAt(): number {
    return this.#skimmer.openedAt[this.depth - 1] ?? 0
  }

  /** `at`: the place of its start tag in the document. */
  push(name: Name, at: number): void {
    const { open, openedAt, state } = this.#skimmer
    const depth = state[State.depth] as number
    this.#names[depth] = name
    open[depth] = name.entry
    openedAt[depth] = at
    state[State.depth] = depth + 1
  }

  /** Answers how many are left. */
  pop(): number {
    const { state } = this.#skimmer
    const depth = (state[State.depth] as number) - 1
    state[State.depth] = depth
    return depth
  }

  /** The entries of names are about to be forgotten. */
  keepNames(): void {
    const { open } = this.#skimmer
    for (let i = 0; i < this.depth; i++) {
      const name = this.#at(i)
      if (name !== undefined) this.#names[i] = name
      open[i] = 0
    }
  }

  #at(i: number): Name | undefined {
    const entry = this.#skimmer.open[i] ?? 0
    return entry === 0 ? this.#names[i] : this.#table.ofEntry(entry)
  }
}
