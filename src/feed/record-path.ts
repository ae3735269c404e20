// Finds the element that is a posting: by the configured path, by a name that job feeds use (33 formats were studied),
// or by repetition. Paths are full, from the root.

import { folded, withoutPrefix } from './names.ts'

/** PathNode describes the elements of one path. Names are as written. */
export interface PathNode {
  readonly name: string
  readonly parent: PathNode | null
  readonly depth: number
  readonly children: Map<string, PathNode>
  /** The name is in STRONG. */
  readonly isStrong: boolean
  /** The name is in WEAK, and the depth is right for it. */
  readonly isWeak: boolean
  count: number
  /** An element of this path contained another element. */
  hasElements: boolean
  hasAttributes: boolean
}

/** STRONG names mean a posting at any place, even at the root. */
const STRONG = new Set(
  `job jobad jobadvert joboffer jobposting joblisting jobpositionposting position positionopening
  vacancy vacature posting ad opening stelle stellenangebot stellenanzeige annonce offre
  oferta`.split(/\s+/),
)
/** WEAK names count as records only when nothing around them repeats. */
const WEAK = new Set(['item', 'entry', 'record', 'row', 'listing', 'offer', 'advert'])

/** These limit the depth of detected records; the root is 1. Strong names may lie deeper, inside an envelope. */
const DEEPEST_STRONG = 8
const DEEPEST = 4
const MOST_PATHS = 500

export class RecordFinder {
  readonly #configured: readonly string[] | null
  readonly #deepest: number
  #root: PathNode | null = null
  #paths = 0

  /** `configured`: `/source/job`, or null to detect it. */
  constructor(configured: string | null) {
    this.#configured = configured === null ? null : configured.split('/').filter((s) => s !== '')
    this.#deepest = Math.max(DEEPEST_STRONG, this.#configured?.length ?? 0)
  }

  /** enter counts an element below `parent`. It returns null for a path that is too deep, or one too many. */
  enter(parent: PathNode | null, name: string): PathNode | null {
    const node = parent === null ? (this.#root ?? this.#add(null, name)) : this.#below(parent, name)
    if (node !== null) node.count++
    if (parent !== null) parent.hasElements = true
    return node
  }

  /** looksLikeRecord guesses from the first element of a path whether the path is that of the postings. */
  looksLikeRecord(node: PathNode): boolean {
    if (this.#configured !== null) return matches(node, this.#configured, folded)
    return node.isStrong || node.isWeak
  }

  /** within counts a child of the only record so far, if the child may be a posting; else it returns null. */
  within(record: PathNode, name: string): PathNode | null {
    if (this.#configured !== null || !STRONG.has(localName(name))) return null
    return this.enter(record, name)
  }

  /** chosen returns the record path after the whole document; `guess` is the path that was read. */
  chosen(guess: PathNode | null): PathNode | null {
    const best = this.#best(guess)
    if (best === null || best !== guess || best.count > 1) return best
    // <listing><job>…</job><job>…</job></listing>
    const held = [...best.children.values()].filter((node) => node.count > 1 && isStructured(node))
    return first(held) ?? best
  }

  #best(guess: PathNode | null): PathNode | null {
    const configured = this.#configured
    const nodes = this.#root === null ? [] : [...descendants(this.#root)]
    const all = nodes.filter(({ parent }) => parent === null || parent !== guess)
    if (configured !== null) return all.find((node) => matches(node, configured, same)) ?? guess
    const structured = all.filter(isStructured)
    const strong = structured.filter((node) => node.isStrong)
    const weak = structured.filter((node) => node.isWeak && single(node.parent))
    const repeated = all.filter(
      (node) => node.count > 1 && node.hasElements && node.depth <= DEEPEST && single(node.parent),
    )
    return first(strong) ?? first(weak) ?? first(repeated) ?? guess
  }

  #below(parent: PathNode, name: string): PathNode | null {
    const known = parent.children.get(name)
    if (known !== undefined) return known
    return parent.depth < this.#deepest && this.#paths < MOST_PATHS ? this.#add(parent, name) : null
  }

  #add(parent: PathNode | null, name: string): PathNode {
    const depth = (parent?.depth ?? 0) + 1
    const node: PathNode = {
      name,
      parent,
      depth,
      isStrong: STRONG.has(localName(name)),
      isWeak: depth > 1 && depth <= DEEPEST && WEAK.has(localName(name)),
      children: new Map(),
      count: 0,
      hasElements: false,
      hasAttributes: false,
    }
    this.#paths++
    if (parent === null) this.#root = node
    else parent.children.set(name, node)
    return node
  }
}

/** pathOf returns a full path such as `/source/job`. */
export function pathOf(node: PathNode): string {
  return `${node.parent === null ? '' : pathOf(node.parent)}/${node.name}`
}

const same = (name: string) => name
const localName = (name: string) => folded(withoutPrefix(name))

function matches(node: PathNode, path: readonly string[], fold: (name: string) => string): boolean {
  if (node.depth !== path.length) return false
  for (let at: PathNode | null = node; at !== null; at = at.parent) {
    const step = fold(path[at.depth - 1] ?? '')
    if (fold(at.name) !== step && fold(withoutPrefix(at.name)) !== step) return false
  }
  return true
}

const isStructured = (node: PathNode) => node.hasElements || node.hasAttributes

function single(node: PathNode | null): boolean {
  return node === null || (node.count === 1 && single(node.parent))
}

function* descendants(node: PathNode): Generator<PathNode> {
  yield node
  for (const child of node.children.values()) yield* descendants(child)
}

/** first returns the shallowest node; of several, the one that occurs most often. */
function first(nodes: PathNode[]): PathNode | null {
  return nodes.sort((a, b) => a.depth - b.depth || b.count - a.count)[0] ?? null
}
