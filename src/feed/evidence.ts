// Judges from the paths of a document whether the elements of one path are postings: most of them have a title, an id,
// a description or a place of their own.

import type { FieldPaths } from '../domain/mapping.ts'
import { ADDRESSES, type Field, type FieldPath, pathsOf } from './field-paths.ts'
import { folded, localName, withoutPrefix } from './names.ts'
import { MOST_LOOKED_AT, type PathNode } from './path-tree.ts'

export interface Evidence {
  hasTitle: boolean
  /** The title is a name, which companies and categories have, too. */
  isNamed: boolean
  hasId: boolean
  hasDescription: boolean
  hasPlace: boolean
  /** A higher score is more like a posting; 0: nothing was found. */
  score: number
}

/** SURE_PART of the elements of a path must have a field. */
const SURE_PART = 0.5
/**
 * NAMES can hold the title of a posting, but also the name of anything else: `<category name="…">` is not a posting.
 */
const NAMES: ReadonlySet<string> = new Set(
  [
    'name',
    'bezeichnung',
    'libelle',
    'nazwa',
    'nazev',
    'название',
    'наименование',
    'назва',
    'nazvanie',
    'nazva',
  ].map(folded),
)
const [TITLE, ID, OTHER] = [4, 2, 1]
const NO_NAMES: ReadonlySet<string> = new Set()

/** Lookup has the paths of a field: the single names by their folded name, and the others. */
interface Lookup {
  elements: ReadonlySet<string>
  attributes: ReadonlySet<string>
  deeper: readonly FieldPath[]
}

export class EvidenceReader {
  readonly #configured: FieldPaths
  readonly #lookups = new Map<string, Lookup>()
  readonly #known = new Map<PathNode, Evidence>()

  constructor(configured: FieldPaths) {
    this.#configured = configured
  }

  /** of judges whether the elements of this path are the postings. Call it after the whole document. */
  of(node: PathNode): Evidence {
    const known = this.#known.get(node)
    if (known !== undefined) return known
    const hasId = this.#has(node, 'id')
    const hasDescription = this.#has(node, 'description')
    const hasPlace = (['city', 'state', 'postalCode'] as const).some((each) =>
      this.#has(node, each),
    )
    const hasOwnTitle = this.#has(node, 'title')
    const mayBeNamed = node.isStrong || (hasId && hasDescription && hasPlace)
    const isNamed = !hasOwnTitle && mayBeNamed && this.#has(node, 'title', NO_NAMES)
    const hasTitle = hasOwnTitle || isNamed
    const other = (hasDescription ? OTHER : 0) + (hasPlace ? OTHER : 0)
    const found = {
      hasTitle,
      isNamed,
      hasId,
      hasDescription,
      hasPlace,
      score: (hasTitle ? TITLE : 0) + (hasId ? ID : 0) + other,
    }
    this.#known.set(node, found)
    return found
  }

  /** #has returns true if most elements have the field. Elements and attributes with a name in `not` do not count. */
  #has(node: PathNode, field: Field, not = field === 'title' ? NAMES : NO_NAMES): boolean {
    const { attributes, deeper, elements } = this.#lookup(field, node)
    const most = lookedInto(node) * SURE_PART
    let found = 0
    for (const child of node.children.values()) {
      const isText = !child.hasElements || field === 'description'
      if (isText && elements.has(child.folded) && !not.has(child.folded)) found += child.count
    }
    if (found > 0 && found >= most) return true
    const lookedAt = Math.min(node.count, MOST_LOOKED_AT) * SURE_PART
    let counted = 0
    for (const [name, count] of node.attributes) {
      if (attributes.has(name) && !not.has(name)) counted += count
    }
    if (counted > 0 && counted >= lookedAt) return true
    return deeper.some((path) => countAt(node, path) >= Math.max(1, most))
  }

  #lookup(field: Field, node: PathNode): Lookup {
    const key = field === 'id' ? `id ${node.folded}` : field
    const known = (this.#configured[field] === undefined ? usual : this.#lookups).get(key)
    if (known !== undefined) return known
    const record = withoutPrefix(node.name)
    const paths = pathsOf(field, { configured: this.#configured, record, excludedIds: null })
    const lookup = lookupOf(field, paths)
    if (this.#configured[field] !== undefined) this.#lookups.set(key, lookup)
    else {
      if (usual.size >= MOST_LOOKUPS) usual.clear()
      usual.set(key, lookup)
    }
    return lookup
  }
}

/** usual keeps the lookups of detected paths, because they are the same in each feed. */
const usual = new Map<string, Lookup>()
const MOST_LOOKUPS = 200

function lookupOf(field: Field, all: readonly FieldPath[]): Lookup {
  const paths = all.filter(({ steps }) => steps.every(({ condition }) => condition === null))
  const isSingle = ({ attribute, steps }: FieldPath) =>
    steps.length + Number(attribute !== null) === 1
  const isNoAddress = (name: string) => field !== 'id' || !ADDRESSES.has(name)
  const namesOf = (some: readonly FieldPath[]) =>
    some
      .map(({ attribute, steps }) => localName(attribute ?? steps[0]?.name ?? ''))
      .filter(isNoAddress)
  const single = paths.filter(isSingle)
  return {
    elements: new Set(namesOf(single.filter(({ attribute }) => attribute === null))),
    attributes: new Set(namesOf(single.filter(({ attribute }) => attribute !== null))),
    deeper: paths.filter(
      (path) => !isSingle(path) && isNoAddress(localName(path.steps[0]?.name ?? '')),
    ),
  }
}

/** lookedInto returns how many elements of the path had their children counted. */
export function lookedInto(node: PathNode): number {
  return node.lookedInto ?? node.count
}

/** countAt counts the elements, or attributes, at a path below `node`. */
function countAt(node: PathNode, { attribute, steps }: FieldPath): number {
  let nodes = [node]
  for (const { name } of steps) {
    const step = localName(name)
    nodes = nodes.flatMap(({ children }) =>
      [...children.values()].filter((child) => child.folded === step),
    )
  }
  const sum = (count: (each: PathNode) => number) =>
    nodes.reduce((total, each) => total + count(each), 0)
  if (attribute === null) return sum(({ count }) => count)
  return sum(({ attributes }) => attributes.get(localName(attribute)) ?? 0)
}
