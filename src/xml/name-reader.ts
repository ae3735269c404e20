// Reads the names in a tag (XML 1.0 production 5), and says what is wrong with the tag.

import { stop, wrong } from './fault.ts'
import type { Input } from './input.ts'
import { tooLong } from './limits.ts'
import type { NameTable } from './names.ts'
import type { TagReason } from './namespaces.ts'
import { misplaced, tagName } from './tag-faults.ts'

/** Instead of a name's number. */
export const NONE = 0

export class NameReader {
  readonly names: NameTable
  /** Where the tag begins. */
  markup = 0
  readonly #input: Input
  readonly #longest: number

  /** `longest`: bytes of a name. */
  constructor(input: Input, names: NameTable, longest: number) {
    this.#input = input
    this.names = names
    this.#longest = longest
  }

  /** Hot: the number of the name at `from`, where one must begin; NONE: it may go on. */
  read(from: number): number {
    const { names } = this
    const name = names.read(this.#input.data, from)
    if (names.isPlain[name] === 1 && names.end < this.#input.end) return name
    return this.#unusual(name, from)
  }

  #unusual(number: number, from: number): number {
    const { base, end, final } = this.#input
    const { names } = this
    if (number === NONE) stop(tooLong('name', 'a name', this.#longest, base + from))
    if (names.end >= end && !final) return NONE
    const { wrongAt } = names.of(number)
    if (wrongAt !== null) stop(misplaced(this.#input, this.markup, from + wrongAt))
    return names.end >= end ? NONE : number
  }

  /** Throws `FaultFound`: something is wrong at `at`, or with the tag, whose place is then its `<`. */
  wrong(reason: TagReason, at = this.markup): never {
    const last = at === this.markup ? this.names.end : at
    wrong(reason(tagName(this.#input, this.markup, last)), this.#input.base + at)
  }
}
