// Which prefix is bound to which namespace (Namespaces in XML 1.0), and what that forbids in a tag. What a
// binding replaced is put back when the element that declared it ends.

import { createHash } from 'node:crypto'
import { sameBytes, wordsOf } from './bytes.ts'
import { short } from './fault.ts'
import type { Attributes } from './handler.ts'
import {
  badLocalName,
  type Declared,
  malformedName,
  type Name,
  type Prefix,
  XML_NAMESPACE,
  XMLNS_NAMESPACE,
} from './names.ts'

interface Binding {
  prefix: Prefix
  /** Elements that are open with the one that declared it. */
  depth: number
  before: string | null
}

export interface NamespaceFault {
  /** A sentence about the tag whose name stands for `{tag}`. */
  reason: string
  /** Where the attribute begins that is wrong; undefined: the tag is. */
  at?: number
}

/** Characters of a namespace's name that are kept, as many names as there may be. */
const LONGEST_KEPT = 200

const EMPTY = 'a namespace prefix in <{tag}> is declared with an empty value'
const RESERVED = '<{tag}> declares one of the reserved names xml and xmlns wrongly'

export class Namespaces {
  /** Elements that are open with the innermost one that declared a prefix; 0: none did. */
  deepest = 0
  readonly #bindings: Binding[] = []

  /**
   * The last attribute so far has a name with a prefix, or is `xmlns="…"` or `xmlns:prefix="…"` (productions 1 to 3).
   * Answers what is wrong with it; null: nothing.
   */
  read(attributes: Attributes): string | null {
    const { view } = attributes
    const i = attributes.count - 1
    const name = attributes.nameAt(i)
    if (name.malformed) return malformedName(name)
    const { declares } = name
    if (declares === null) return null
    const from = attributes.from[i] as number
    const length = (attributes.to[i] as number) - from
    const { written } = declares
    if (
      written === null ||
      declares.length !== length ||
      !sameBytes(written, 0, length, view, from)
    ) {
      declares.namespace = namespaceOf(attributes.valueAt(i))
      const fault = declarationFault(declares)
      if (fault !== null) return fault
      declares.written = length <= LONGEST_KEPT ? wordsOf(view, from, length) : null
      declares.length = length
    }
    return null
  }

  /** The tag is complete: binds what it declares; answers what is wrong with it as a whole, or null. */
  enter(element: Name, attributes: Attributes, depth: number): NamespaceFault | null {
    this.#bind(attributes, depth)
    const reason = elementFault(element)
    return reason !== null ? { reason } : attributesFault(attributes)
  }

  /** Ends what elements deeper than `depth` declared. */
  leave(depth: number): void {
    while (this.deepest > depth) {
      const { prefix, before } = this.#bindings.pop() as Binding
      prefix.namespace = before
      this.deepest = this.#bindings.at(-1)?.depth ?? 0
    }
  }

  #bind(attributes: Attributes, depth: number): void {
    for (let i = 0; i < attributes.count; i++) {
      const { declares } = attributes.nameAt(i)
      if (declares === null || declares.prefix === null) continue
      const { namespace, prefix } = declares
      this.#bindings.push({ prefix, depth, before: prefix.namespace })
      this.deepest = depth
      prefix.namespace = namespace
    }
  }
}

/** Unique Att Spec (XML 1.0 §3.1) and Attributes Unique (Namespaces §6.3). */
function attributesFault(attributes: Attributes): NamespaceFault | null {
  let badLocal: Name | null = null
  for (let i = 0; i < attributes.count; i++) {
    const name = attributes.nameAt(i)
    const reason = unboundFault(name)
    if (reason !== null) return { reason }
    if (name.badLocal) badLocal ??= name
    if (i > 0 && isTwice(attributes, i)) return twice(attributes, i)
  }
  return badLocal === null ? null : { reason: badLocalName(badLocal) }
}

/** Unique Att Spec (XML 1.0 §3.1), where no name has a prefix. */
export function twiceAt(attributes: Attributes): NamespaceFault | null {
  const { count, numbers } = attributes
  for (let i = 1; i < count; i++) {
    for (let j = 0; j < i; j++) if (numbers[i] === numbers[j]) return twice(attributes, i)
  }
  return null
}

/** The attribute at `i` is there twice. */
function twice(attributes: Attributes, i: number): NamespaceFault {
  const reason = `<{tag}> has the attribute "${short(attributes.nameAt(i).local)}" twice`
  return { reason, at: attributes.begin[i] as number }
}

/** Whether an attribute before the one at `i` has the same name, or the same local name in the same namespace. */
function isTwice(attributes: Attributes, i: number): boolean {
  const { prefix, local } = attributes.nameAt(i)
  for (let j = 0; j < i; j++) {
    if (attributes.numbers[j] === attributes.numbers[i]) return true
    if (prefix === null) continue
    const other = attributes.nameAt(j)
    if (other.prefix === null || other.local !== local) continue
    if (other.prefix.namespace === prefix.namespace) return true
  }
  return false
}

function elementFault(element: Name): string | null {
  if (element.malformed) return malformedName(element)
  return element.prefix?.text === 'xmlns' ? RESERVED : unboundFault(element)
}

/** Prefix Declared (§5). */
function unboundFault({ prefix }: Name): string | null {
  if (prefix === null || prefix.namespace !== null) return null
  const text = short(prefix.text)
  return `the prefix "${text}" in <{tag}> is not declared with xmlns:${text}="…"`
}

/** Whether a tag may declare this (namespace constraints of §3 and §5); null: it may. */
function declarationFault({ prefix, namespace }: Declared): string | null {
  if (prefix !== null && namespace === '') return EMPTY
  if (prefix?.text === 'xmlns' || namespace === XMLNS_NAMESPACE) return RESERVED
  return (prefix?.text === 'xml') === (namespace === XML_NAMESPACE) ? null : RESERVED
}

/** What tells a namespace apart from others, in little memory: nobody writes a name of many kilobytes. */
function namespaceOf(value: string): string {
  if (value.length <= LONGEST_KEPT) return value
  return `sha256 ${createHash('sha256').update(value).digest('hex')}`
}
