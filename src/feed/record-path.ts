// Finds the element that is a posting: the configured path, a name that job feeds are known to use
// (33 formats), or else the element that repeats. Paths are full, from the root.

import { folded, withoutPrefix } from './names.ts'

/** What was seen of one path; names as written. */
export interface PathNode {
  readonly name: string
  readonly parent: PathNode | null
  readonly depth: number
  readonly children: Map<string, PathNode>
  /** Whether it has the name of a posting. */
  readonly isStrong: boolean
  readonly isWeak: boolean
  count: number
  /** Whether an element of this path had an element in it. */
  hasElements: boolean
  hasAttributes: boolean
}

/** An element with such a name is a posting wherever it stands, also as the root. */
const STRONG = new Set(
  `job jobad jobadvert joboffer jobposting joblisting jobpositionposting position positionopening
  vacancy vacature posting ad opening stelle stellenangebot stellenanzeige annonce offre
  oferta`.split(/\s+/),
)
/** An element with such a name is one where nothing around it repeats. */
const WEAK = new Set(['item', 'entry', 'record', 'row', 'listing', 'offer', 'advert'])

/** Detected records stand no deeper than this, the root being 1: an envelope may wrap those of a strong name. */
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

  /** Counts an element below `parent`; null where paths are not followed. */
  enter(parent: PathNode | null, name: string): PathNode | null {
    const node = parent === null ? (this.#root ?? this.#add(null, name)) : this.#below(parent, name)
    if (node !== null) node.count++
    if (parent !== null) parent.hasElements = true
    return node
  }

  /** Whether the first element of a path should be taken for a posting before the rest was seen. */
  looksLikeRecord(node: PathNode): boolean {
    if (this.#configured !== null) return matches(node, this.#configured, folded)
    return node.isStrong || node.isWeak
  }

  /** Counts an element in the only record so far, which may hold the postings; null: it is none of them. */
  within(record: PathNode, name: string): PathNode | null {
    if (this.#configured !== null || !STRONG.has(localName(name))) return null
    return this.enter(record, name)
  }

  /** The record path after the whole document was seen; `guess` is what was taken meanwhile. */
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

/** `/source/job`. */
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

/** The shallowest, and of these the one that occurs most. */
function first(nodes: PathNode[]): PathNode | null {
  return nodes.sort((a, b) => a.depth - b.depth || b.count - a.count)[0] ?? null
}
