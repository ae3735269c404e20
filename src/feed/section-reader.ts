// Reads what runs up to a terminator: comments (XML 1.0 production 15), the content of processing
// instructions (16) and CDATA sections (20). They pass in portions, however long they are.

import { GT } from './byte-classes.ts'
import type { HeardEvents } from './heard-events.ts'
import { type Input, MORE } from './input.ts'
import { type Limits, tooLong } from './limits.ts'
import { stop, wrong } from './stopped.ts'
import { TextTeller } from './text-teller.ts'

export type Section = 'comment' | 'cdata' | 'instruction'

const SECTIONS = {
  // "--" alone: what must follow it is checked apart.
  comment: { name: 'comment', terminator: Buffer.from('--') },
  cdata: { name: 'CDATA section', terminator: Buffer.from(']]>') },
  instruction: { name: 'processing instruction', terminator: Buffer.from('?>') },
} as const

export class SectionReader {
  /** The section that is open. */
  inside: Section | null = null
  readonly #input: Input
  readonly #limits: Limits
  readonly #teller: TextTeller
  #began = 0
  #length = 0

  constructor(input: Input, heard: HeardEvents, limits: Limits) {
    this.#input = input
    this.#limits = limits
    this.#teller = new TextTeller(input, heard, true)
  }

  /** For a sentence. */
  get name(): string | null {
    return this.inside === null ? null : SECTIONS[this.inside].name
  }

  /** A section whose markup is at `markup` begins; its content begins at `content`. */
  begin(section: Section, markup: number, content: number): number {
    this.inside = section
    this.#began = this.#input.base + markup
    this.#length = 0
    this.#teller.finish()
    return content < this.#input.end ? this.#read(section, content) : content
  }

  /** Reads on from `at`; answers how far, or MORE. */
  read(at: number): number {
    const reached = this.inside === null ? at : this.#read(this.inside, at)
    return reached === at ? MORE : reached
  }

  #read(section: Section, from: number): number {
    const { data, end } = this.#input
    const { name, terminator } = SECTIONS[section]
    const found = data.indexOf(terminator, from)
    const over = found !== -1 && found + terminator.length <= end
    const to = over ? found : this.#cut(section, from)
    this.#length += to - from
    if (this.#length > this.#limits.text) {
      stop(tooLong('text', `a ${name}`, this.#limits.text, this.#began))
    }
    if (section === 'cdata') this.#teller.tell(from, to)
    if (!over) return to
    const after = found + terminator.length
    if (section === 'comment') return this.#commentEnd(found, after)
    this.inside = null
    return after
  }

  /** "--" ends a comment together with ">", and may not stand in one otherwise. */
  #commentEnd(found: number, after: number): number {
    const { data, base, end } = this.#input
    if (after >= end) return found
    if (data[after] !== GT) wrong('"--" is not allowed inside a comment', base + found)
    this.inside = null
    return after + 1
  }

  /** How much of the section is certain while its terminator may be cut. */
  #cut(section: Section, from: number): number {
    const { data, end } = this.#input
    const { terminator } = SECTIONS[section]
    let at = end
    while (at > from && at > end - terminator.length + 1 && data[at - 1] === terminator[0]) at--
    return section === 'cdata' ? this.#teller.cut(from, at) : at
  }
}
