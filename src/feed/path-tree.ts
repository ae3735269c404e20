// Counts the elements of a document by their paths, so that the path of the postings can be chosen at the end of the
// document. Its memory is bounded: deep paths, and paths beyond a limit, are not counted.

import type { Attributes } from '../xml/handler.ts'
import { localName } from './names.ts'
import { isStrong, isWeak } from './record-names.ts'

/** PathNode describes the elements of one path. Names are as written. */
export interface PathNode {
  readonly name: string
  /** The name without prefix, case, accents, `_` and `-`. */
  readonly folded: string
  readonly parent: PathNode | null
  /** The root has depth 1. */
  readonly depth: number
  readonly children: Map<string, PathNode>
  /** For each folded name of an attribute: how many of the first `MOST_LOOKED_AT` elements have the attribute. */
  readonly attributes: Map<string, number>
  readonly isStrong: boolean
  readonly isWeak: boolean
  /** The path lies inside the path that was read as the path of the postings. */
  readonly isInside: boolean
  count: number
  /** The number of elements whose children were counted; null means that the children of all elements were counted. */
  lookedInto: number | null
  /** An element of this path contained another element. */
  hasElements: boolean
  hasAttributes: boolean
}

/**
 * MOST_LOOKED_AT is how many of the first elements of a path are looked at closely, to learn what the others are like.
 */
export const MOST_LOOKED_AT = 64
/** MOST_PATHS limits the counted paths outside of postings, and MOST_INSIDE the counted paths inside of postings. */
const MOST_PATHS = 500
const MOST_INSIDE = 1_000

export class PathTree {
  readonly #deepest: number
  root: PathNode | null = null
  #outside = 0
  #inside = 0

  /** `deepest` is the depth of the deepest counted path; the root is 1. */
  constructor(deepest: number) {
    this.#deepest = deepest
  }

  /**
   * enter counts an element below `parent` and returns its node. It returns null if the path is too deep, or if too
   * many paths are counted already. `inside` means that the parent is a posting or lies in a posting.
   */
  enter(parent: PathNode | null, name: string, where: 'inside' | 'outside'): PathNode | null {
    const known = parent === null ? this.root : parent.children.get(name)
    const node = known ?? this.#add(parent, name, where)
    if (node !== null) node.count++
    if (parent !== null) parent.hasElements = true
    return node
  }

  /** nodes returns `node` and all nodes below it. */
  *nodes(node: PathNode | null = this.root): Generator<PathNode> {
    if (node === null) return
    yield node
    for (const child of node.children.values()) yield* this.nodes(child)
  }

  #add(parent: PathNode | null, name: string, where: 'inside' | 'outside'): PathNode | null {
    const isInside = where === 'inside'
    const depth = (parent?.depth ?? 0) + 1
    if (depth > this.#deepest) return null
    if (isInside ? this.#inside >= MOST_INSIDE : this.#outside >= MOST_PATHS) return null
    if (isInside) this.#inside++
    else this.#outside++
    const node: PathNode = {
      name,
      folded: localName(name),
      parent,
      depth,
      children: new Map(),
      attributes: new Map(),
      isStrong: isStrong(name),
      isWeak: isWeak(name),
      isInside,
      count: 0,
      lookedInto: null,
      hasElements: false,
      hasAttributes: false,
    }
    if (parent === null) this.root = node
    else parent.children.set(name, node)
    return node
  }
}

/** countAttributes counts the attributes of an element, if it is among the first `MOST_LOOKED_AT` of its path. */
export function countAttributes(node: PathNode, attributes: Attributes): void {
  node.hasAttributes = true
  if (node.count > MOST_LOOKED_AT) return
  for (let i = 0; i < attributes.count; i++) {
    const { declares, text } = attributes.nameAt(i)
    if (declares !== null) continue
    const name = localName(text)
    node.attributes.set(name, (node.attributes.get(name) ?? 0) + 1)
  }
}

/** pathOf returns a full path such as `/source/job`. */
export function pathOf(node: PathNode): string {
  return `${node.parent === null ? '' : pathOf(node.parent)}/${node.name}`
}
