// Which prefix is bound to which namespace (Namespaces in XML 1.0), and what that forbids in a tag. What a
// binding replaced is put back when the element that declared it ends.

import type { AttributeReader } from './attribute-reader.ts'
import { short } from './fault.ts'
import { type Declared, type Name, type Prefix, XML_NAMESPACE, XMLNS_NAMESPACE } from './names.ts'
import type { Skimmer } from './skimmer.ts'

/** Whether a tag may declare this (namespace constraints of §3 and §5); null: it may. */
export function declarationFault({ prefix, uri }: Declared): 'empty' | 'reserved' | null {
  if (prefix !== null && uri === '') return 'empty'
  if (prefix?.text === 'xmlns' || uri === XMLNS_NAMESPACE) return 'reserved'
  return (prefix?.text === 'xml') === (uri === XML_NAMESPACE) ? null : 'reserved'
}

export class Namespaces {
  readonly #reader: AttributeReader
  /** Where the bindings are kept, by the numbers of prefixes and namespaces: the skimmer binds, too. */
  readonly #skimmer: Skimmer
  #tags = 0

  constructor(reader: AttributeReader, skimmer: Skimmer) {
    this.#reader = reader
    this.#skimmer = skimmer
  }

  /** The tag is complete: binds what it declares and checks what only holds of it as a whole. */
  enter(element: Name, depth: number): void {
    const { attributes, declarations } = this.#reader
    if (declarations.length > 0) this.#bind(declarations, depth)
    if (!element.isPlain) {
      if (element.malformed) this.#reader.malformed(element)
      if (element.prefix?.text === 'xmlns') this.#reader.reserved()
      this.#checkBound(element)
    }
    if (attributes.count > 0) this.#checkAttributes()
  }

  /** Ends what elements deeper than `depth` declared. */
  leave(depth: number): void {
    const { bindings, boundPrefix, boundDepth, boundBefore, namespaceOf } = this.#skimmer
    let count = bindings[0] as number
    while (count > 0 && (boundDepth[count - 1] as number) > depth) {
      count--
      namespaceOf[boundPrefix[count] as number] = boundBefore[count] as number
      bindings[0] = count
    }
  }

  #bind(declarations: readonly Declared[], depth: number): void {
    const { bindings, boundPrefix, boundDepth, boundBefore, namespaceOf } = this.#skimmer
    for (const { prefix, number } of declarations) {
      if (prefix === null) continue
      const count = bindings[0] as number
      boundPrefix[count] = prefix.number
      boundDepth[count] = depth
      boundBefore[count] = namespaceOf[prefix.number] as number
      namespaceOf[prefix.number] = number
      bindings[0] = count + 1
    }
  }

  /** Prefix Declared (§5). */
  #checkBound({ prefix }: Name): void {
    if (prefix === null || this.#namespace(prefix) !== 0) return
    const text = short(prefix.text)
    this.#reader.wrong(
      (tag) => `the prefix "${text}" in <${tag}> is not declared with xmlns:${text}="…"`,
    )
  }

  /** Unique Att Spec (XML 1.0 §3.1) and Attributes Unique (Namespaces §6.3). */
  #checkAttributes(): void {
    const { names, begin, count } = this.#reader.attributes
    const tag = ++this.#tags
    let prefixed = 0
    let badLocal: Name | null = null
    for (let i = 0; i < count; i++) {
      const name = names[i] as Name
      if (!name.isPlain) {
        this.#checkBound(name)
        if (name.prefix !== null) prefixed++
        if (name.badLocal) badLocal ??= name
      }
      if (name.seenIn === tag || (prefixed > 1 && this.#expandsAlike(name, i))) {
        const local = short(name.local)
        this.#reader.wrong((element) => `<${element}> has the attribute "${local}" twice`, begin[i])
      }
      name.seenIn = tag
    }
    if (badLocal !== null) this.#reader.badLocal(badLocal)
  }

  /** Whether an attribute before the one at `i` has the same local name in the same namespace. */
  #expandsAlike({ prefix, local }: Name, i: number): boolean {
    if (prefix === null) return false
    for (let j = 0; j < i; j++) {
      const other = this.#reader.attributes.names[j]
      if (other?.prefix == null || other.local !== local) continue
      if (this.#namespace(other.prefix) === this.#namespace(prefix)) return true
    }
    return false
  }

  /** The number of what a prefix is bound to; 0: nothing. */
  #namespace({ number }: Prefix): number {
    return this.#skimmer.namespaceOf[number] as number
  }
}
