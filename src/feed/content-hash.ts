// Hash of the bytes of a posting (assembly/content.ts), from the first of its start tag to the last of its end
// tag, where they lie: in the memory that the document is checked in.

import type { Skimmer } from './skimmer.ts'

export class ContentHash {
  #memory: Skimmer | null = null
  /** Where the bytes begin that are not in yet; null: no posting is open. */
  #from: number | null = null

  /** Before anything else. */
  attach(memory: Skimmer): void {
    this.#memory = memory
  }

  begin(from: number): void {
    this.#from = from
    this.#memory?.beginContent()
  }

  /** What follows `to` is about to stand at the beginning of the memory. */
  moving(to: number): void {
    if (this.#from === null) return
    this.#memory?.takeContent(this.#from, to)
    this.#from = 0
  }

  digest(to: number): number {
    if (this.#from !== null) this.#memory?.takeContent(this.#from, to)
    this.#from = null
    return this.#memory?.contentHash() ?? 0
  }
}
