// The memory that a document is checked in, and the part of the checker that is WebAssembly (assembly/): it
// passes over whatever nobody is told of and is certainly right, several times as fast as JavaScript can.
// What it knows of the document, the readers know too: both use this memory.

import { APOSTROPHE, QUOTE } from './byte-classes.ts'
import type { Limits } from './limits.ts'
import { SKIM_CODE } from './skim-code.ts'
import {
  type Addresses,
  MOST_BINDINGS,
  MOST_OPEN,
  MOST_PREFIXES,
  ROOM,
  type SkimmerParts,
} from './skimmer-parts.ts'
import { withoutSimd } from './without-simd.ts'

/** Places in `state`; the same in assembly/skim.ts. */
export const State = {
  depth: 0,
  /** How many elements were open when the first one was that is not told of; 0: all are told of. */
  ignoredFrom: 1,
  /** Where the handler is, and whether it wants the text that stands there: see `XmlHandler`. */
  place: 2,
  wantsText: 3,
  mostDepth: 4,
  mostBytes: 5,
  mostAttributes: 6,
} as const

/** What a name may be used for, as bits: see assembly/names.ts. */
export const ELEMENT = 1
export const ATTRIBUTE = 2

/** Bytes of a name that has an entry. */
const LONGEST_NAME = 255
/** Bytes of a namespace's name that are kept, to recognise it the next time. */
export const LONGEST_KEPT = 200

let compiled: WebAssembly.Module | 'cannot run here' | null = null
/** Those that no document is checked with at the moment: to make one takes longer than to check a small feed. */
const idle: Skimmer[] = []

export class Skimmer {
  /** All room that there is for the document. */
  readonly room: Buffer
  readonly state: Int32Array
  /** The entries of the names of the open elements (0: it has none), and where their tags are. */
  readonly open: Int32Array
  readonly openedAt: Float64Array
  /** See assembly/namespaces.ts. */
  readonly namespaceOf: Int32Array
  readonly boundPrefix: Int32Array
  readonly boundDepth: Int32Array
  readonly boundBefore: Int32Array
  readonly bindings: Int32Array
  readonly #parts: SkimmerParts
  readonly #input: number
  #prefixes = 0

  private constructor() {
    this.#parts = newParts()
    const { buffer } = this.#parts.memory
    const at = (name: keyof Addresses) => this.#parts[name].value
    this.#input = at('INPUT')
    this.room = Buffer.from(buffer, this.#input, ROOM)
    this.state = new Int32Array(buffer, at('STATE'), Object.keys(State).length)
    this.open = new Int32Array(buffer, at('OPEN'), MOST_OPEN)
    this.openedAt = new Float64Array(buffer, at('OPENED_AT'), MOST_OPEN)
    this.namespaceOf = new Int32Array(buffer, at('NAMESPACE_OF'), MOST_PREFIXES)
    this.boundPrefix = new Int32Array(buffer, at('BOUND_PREFIX'), MOST_BINDINGS)
    this.boundDepth = new Int32Array(buffer, at('BOUND_DEPTH'), MOST_BINDINGS)
    this.boundBefore = new Int32Array(buffer, at('BOUND_BEFORE'), MOST_BINDINGS)
    this.bindings = new Int32Array(buffer, at('BINDINGS'), 1)
  }

  /** For one document; to be given back. */
  static take(limits: Limits): Skimmer {
    const skimmer = idle.pop() ?? new Skimmer()
    const { state } = skimmer
    state.fill(0)
    state[State.mostDepth] = limits.depth
    state[State.mostBytes] = Math.min(limits.text, limits.tag, limits.attributeValue)
    state[State.mostAttributes] = limits.attributes
    skimmer.forget()
    skimmer.namespaceOf.fill(0, 0, skimmer.#prefixes)
    // Prefix 0 is that of names without one.
    skimmer.namespaceOf[0] = 1
    skimmer.#prefixes = 1
    skimmer.bindings[0] = 0
    return skimmer
  }

  /** Once or more often. */
  giveBack(): void {
    if (!idle.includes(this)) idle.push(this)
  }

  /** A number for a prefix, which is bound to nothing. */
  newPrefix(): number {
    return this.#prefixes++
  }

  /**
   * Passes over tokens from `from` on, up to one that is not there as a whole, is to be told of, or may not
   * be right: answers where that is. `base`: the place in the document of `room[0]`.
   */
  skim(from: number, end: number, base: number): number {
    const input = this.#input
    return this.#parts.skim(input + from, input + end, base - input) - input
  }

  /** The first of these bytes, which are UTF-8, that begins what no document may have; `to`: none does. */
  firstForbidden(from: number, to: number): number {
    return this.#parts.firstForbidden(this.#input + from, this.#input + to) - this.#input
  }

  /** The entry of a name, whose bytes are at `from`; 0: there is no room for it. `uses`: of ELEMENT and ATTRIBUTE. */
  enter(from: number, length: number, uses: number, prefix: number): number {
    if (length > LONGEST_NAME) return 0
    return this.#parts.add(this.#input + from, length, uses, prefix)
  }

  /** The entry of the name that stands at `from`; 0: it has none. */
  nameAt(from: number): number {
    return this.#parts.nameAt(this.#input + from)
  }

  /** Elements of this name are never told of in the handler's present place. */
  ignore({ entry }: { entry: number }): void {
    const place = this.state[State.place] as number
    if (entry > 0 && place !== 0) this.#parts.ignore(entry, place)
  }

  /** What the name declared last: `namespace` by its number, written from `from` to `to`. */
  declared({ entry }: { entry: number }, from: number, to: number, namespace: number): void {
    if (entry <= 0) return
    // One that holds a quote would end elsewhere within quotes of that kind.
    const plain = !this.room
      .subarray(from, to)
      .some((byte) => byte === QUOTE || byte === APOSTROPHE)
    const length = plain ? to - from : LONGEST_KEPT + 1
    this.#parts.declared(entry, this.#input + from, length, LONGEST_KEPT, namespace)
  }

  /** A hash of bytes is begun; one at a time (assembly/content.ts). */
  beginContent(): void {
    this.#parts.beginContent()
  }

  takeContent(from: number, to: number): void {
    this.#parts.takeContent(this.#input + from, this.#input + to)
  }

  /** 32 bits, of all that was taken. */
  contentHash(): number {
    return this.#parts.contentHash() >>> 0
  }

  /** Forgets all names. */
  forget(): void {
    this.#parts.forget()
  }
}

function newParts(): SkimmerParts {
  compiled ??= compile()
  if (compiled === 'cannot run here') return withoutSimd()
  return new WebAssembly.Instance(compiled).exports as SkimmerParts
}

function compile(): WebAssembly.Module | 'cannot run here' {
  const code = Buffer.from(SKIM_CODE, 'base64')
  return WebAssembly.validate(code) ? new WebAssembly.Module(code) : 'cannot run here'
}
