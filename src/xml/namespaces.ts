// Binds prefixes to namespaces and checks the tags (Namespaces in XML 1.0). When an element ends, its prefixes get the
// namespaces back that they had before.

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
  /** depth is the depth of the element that declared the binding. */
  depth: number
  /** before is the namespace that the prefix had before; null if it had no namespace. */
  before: string | null
}

export interface NamespaceFault {
  /** reason is a sentence about the tag; `{tag}` stands for its name. */
  reason: string
  /** at is where the wrong attribute begins; undefined means that the tag itself is wrong. */
  at?: number
}

/** LONGEST_KEPT is in characters: a longer namespace name is stored as a hash. */
const LONGEST_KEPT = 200

const EMPTY = 'a namespace prefix in <{tag}> is declared with an empty value'
const RESERVED = '<{tag}> declares one of the reserved names xml and xmlns wrongly'

export class Namespaces {
  /** deepest is the depth of the innermost element that declared a prefix; 0 if no open element did. */
  deepest = 0
  readonly #bindings: Binding[] = []

  /**
   * readLast checks the last of the attributes, whose name has a prefix or is `xmlns` (productions 1 to 3), and stores
   * the namespace that it declares. It returns the reason of a fault, or null.
   */
  readLast(attributes: Attributes): string | null {
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

  /** enter binds the prefixes that a complete tag declares, and returns the tag's fault, or null. */
  enter(element: Name, attributes: Attributes, depth: number): NamespaceFault | null {
    this.#bind(attributes, depth)
    const reason = elementFault(element)
    return reason !== null ? { reason } : attributesFault(attributes)
  }

  /** leave takes back the bindings of the elements deeper than `depth`. */
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

/** attributesFault checks Unique Att Spec (XML 1.0 §3.1), Prefix Declared (Namespaces §5), Attributes Unique (§6.3). */
function attributesFault(attributes: Attributes): NamespaceFault | null {
  let badLocal: Name | null = null
  for (let i = 0; i < attributes.count; i++) {
    const name = attributes.nameAt(i)
    const reason = unboundFault(name)
    if (reason !== null) return { reason }
    if (name.badLocal) badLocal ??= name
    if (i > 0 && isDuplicate(attributes, i)) return duplicateFault(attributes, i)
  }
  return badLocal === null ? null : { reason: badLocalName(badLocal) }
}

/** duplicateAttribute checks Unique Att Spec (XML 1.0 §3.1) for a tag in which no name has a prefix. */
export function duplicateAttribute(attributes: Attributes): NamespaceFault | null {
  const { count, numbers } = attributes
  for (let i = 1; i < count; i++) {
    for (let j = 0; j < i; j++) if (numbers[i] === numbers[j]) return duplicateFault(attributes, i)
  }
  return null
}

/** duplicateFault reports that the tag has the attribute at `i` twice. */
function duplicateFault(attributes: Attributes, i: number): NamespaceFault {
  const reason = `<{tag}> has the attribute "${short(attributes.nameAt(i).local)}" twice`
  return { reason, at: attributes.begin[i] as number }
}

/** isDuplicate returns true if an earlier attribute has the same name, or the same local name and namespace. */
function isDuplicate(attributes: Attributes, i: number): boolean {
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

/** unboundFault checks Prefix Declared (§5). */
function unboundFault({ prefix }: Name): string | null {
  if (prefix === null || prefix.namespace !== null) return null
  const text = short(prefix.text)
  return `the prefix "${text}" in <{tag}> is not declared with xmlns:${text}="…"`
}

/** declarationFault applies the namespace constraints of §3 and §5; null if the declaration is allowed. */
function declarationFault({ prefix, namespace }: Declared): string | null {
  if (prefix !== null && namespace === '') return EMPTY
  if (prefix?.text === 'xmlns' || namespace === XMLNS_NAMESPACE) return RESERVED
  const [isXmlPrefix, isXmlNamespace] = [prefix?.text === 'xml', namespace === XML_NAMESPACE]
  return isXmlPrefix === isXmlNamespace ? null : RESERVED
}

/** namespaceOf identifies a namespace with little memory: it replaces a long name by its hash. */
function namespaceOf(value: string): string {
  if (value.length <= LONGEST_KEPT) return value
  return `sha256 ${createHash('sha256').update(value).digest('hex')}`
}
