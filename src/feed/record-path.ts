// Finds the path of the postings: the configured one, or the path whose name and fields are most like the name and
// fields of a posting. The first pass guesses from names; the end of the document decides with everything that was
// counted.

import type { FieldPaths } from '../domain/mapping.ts'
import { type Evidence, EvidenceReader, lookedInto } from './evidence.ts'
import { folded, withoutPrefix } from './names.ts'
import { type PathNode, PathTree, pathOf } from './path-tree.ts'
import type { RunnerUp } from './port.ts'
import { isCompound, isOneOf } from './record-names.ts'

/** These limit the depth of detected records; the root is 1. Strong names, and records with titles, can lie deeper. */
const DEEPEST_STRONG = 8
const DEEPEST = 4
/** FIELD_DEPTH is how many levels below a record are counted, to find its fields. */
const FIELD_DEPTH = 4

export interface Choice {
  /** Full path of the postings; null if there are none. */
  records: string | null
  /** The path that was nearly chosen; null if the choice was clear. */
  runnerUp: RunnerUp | null
}

export class RecordFinder {
  readonly tree: PathTree
  readonly #configured: readonly string[] | null
  readonly #evidence: EvidenceReader

  /** `records`: `/source/job`, or null to detect it. `fields` are the configured paths of fields. */
  constructor(records: string | null, fields: FieldPaths) {
    this.#configured = records === null ? null : records.split('/').filter((s) => s !== '')
    this.#evidence = new EvidenceReader(fields)
    this.tree = new PathTree(Math.max(DEEPEST_STRONG, this.#configured?.length ?? 0) + FIELD_DEPTH)
  }

  /** looksLikeRecord guesses from the first element of a path whether its elements are the postings. */
  looksLikeRecord(node: PathNode): boolean {
    if (this.#configured !== null) return matches(node, this.#configured, folded)
    return isStrongHere(node) || isWeakHere(node)
  }

  /** choose returns the record path after the whole document; `guess` is the path that was read. */
  choose(guess: PathNode | null): Choice {
    const nodes = [...this.tree.nodes()].filter(({ isInside }) => !isInside)
    if (this.#configured !== null) {
      const configured = this.#configured
      const record = nodes.find((node) => matches(node, configured, same)) ?? guess
      return { records: record && pathOf(record), runnerUp: null }
    }
    const ranked = nodes.flatMap((node) => {
      const rank = isStructured(node) ? this.#rank(node) : null
      return rank === null ? [] : [{ node, rank }]
    })
    ranked.sort((a, b) => a.rank - b.rank || byPlace(a.node, b.node))
    const [first, second] = ranked
    if (first === undefined) return { records: guess && pathOf(guess), runnerUp: null }
    const isClose = second?.rank === first.rank && second.node.depth === first.node.depth
    return this.#within(first.node, isClose ? second.node : null)
  }

  /** #rank orders the candidates outside of the guess: the lowest wins; null means not a candidate. */
  #rank(node: PathNode): number | null {
    const { hasId, hasTitle } = this.#evidence.of(node)
    if (isStrongHere(node)) return hasTitle ? 0 : hasId ? 1 : 5
    const isTop = isSingle(node.parent)
    const isNear = node.depth <= DEEPEST
    const isSure = hasTitle && node.depth <= DEEPEST_STRONG
    if (isTop && node.isWeak && node.depth > 1 && (isNear || isSure)) return isSure ? 2 : 6
    const isNamed = isCompound(node.name) || (isTop && isOneOf(node.name, node.parent?.name ?? ''))
    if (isNamed && isSure) return 3
    const repeats = isTop && node.count > 1 && node.hasElements && (isNear || isSure)
    return repeats ? (isSure ? 4 : 7) : null
  }

  /** #within looks inside the best candidate for elements that are more like postings: it might be a group of them. */
  #within(best: PathNode, beside: PathNode | null): Choice {
    let record = best
    let runnerUp = beside
    for (let depth = best.depth; depth < DEEPEST_STRONG; depth++) {
      const inner = [...this.tree.nodes(record)].filter(
        (node) => node !== record && isStructured(node),
      )
      const group: PathNode = record
      const better = inner
        .filter((node) => node.depth <= DEEPEST_STRONG && this.#replaces(node, group))
        .sort((a, b) => this.#byEvidence(a, b))[0]
      if (better === undefined) {
        runnerUp ??= inner.find((node) => this.#isClose(node, group)) ?? null
        break
      }
      runnerUp = this.#evidence.of(record).score > 0 || record.count > 1 ? record : runnerUp
      record = better
    }
    return { records: pathOf(record), runnerUp: runnerUp && shown(runnerUp) }
  }

  #byEvidence(a: PathNode, b: PathNode): number {
    const score = this.#evidence.of(b).score - this.#evidence.of(a).score
    return score || Number(b.isStrong) - Number(a.isStrong) || byPlace(a, b)
  }

  /** #replaces returns true if `inner` are the postings, and `group` only contains them. */
  #replaces(inner: PathNode, group: PathNode): boolean {
    const [of, around] = [this.#evidence.of(inner), this.#evidence.of(group)]
    const isMore = inner.count > lookedInto(group)
    if (inner.isStrong) return strongReplaces({ inner, group, of, around, isMore })
    const isNamed = inner.isWeak || isCompound(inner.name)
    const isOther = isMore || of.hasId || of.hasDescription || isNamed
    const isSure = of.hasTitle && (isOther || !isPerson(inner))
    if (group.isStrong) return isMore && of.hasTitle && !around.hasTitle && !around.hasId
    if (around.hasTitle) {
      const isRich = of.hasDescription || of.hasPlace
      const isLike = of.score === around.score && (isRich || (inner.isWeak && !group.isWeak))
      const isOfCompany = around.isNamed && !of.isNamed && (of.hasId || isRich)
      return isMore && of.hasTitle && (of.score > around.score || isLike || isOfCompany)
    }
    return isSure || (!around.hasId && isMore && of.hasId && inner.hasElements)
  }

  /** #isClose returns true if `inner` was nearly chosen instead of the postings that contain it. */
  #isClose(inner: PathNode, group: PathNode): boolean {
    const [of, around] = [this.#evidence.of(inner), this.#evidence.of(group)]
    if (inner.folded === group.folded || inner.count <= lookedInto(group)) return false
    return of.hasTitle && of.score + 1 >= around.score
  }
}

interface Pair {
  inner: PathNode
  group: PathNode
  of: Evidence
  around: Evidence
  /** There are more inner elements than groups. */
  isMore: boolean
}

function strongReplaces({ inner, group, of, around, isMore }: Pair): boolean {
  const isBare = !around.hasTitle && !around.hasId
  // A posting can list similar postings.
  if (inner.folded === group.folded) return isBare && (of.hasTitle || (isMore && of.hasId))
  // A weak name without a title, or one element without a description, is rather a group than a posting.
  const isLoose = group.isStrong ? lookedInto(group) === 1 : !around.hasTitle
  if (isMore && isLoose && inner.hasElements && !around.hasDescription) return true
  if (isBare) return of.hasTitle || (isMore && of.hasId)
  if (!isMore) return !group.isStrong && of.hasTitle && of.score > around.score
  return (!group.isStrong && of.hasTitle) || of.score >= around.score
}

/** PERSON has names of what a person has beside a title such as "Dr". */
const PERSON = 'name firstname lastname surname vorname nachname nom prenom email phone'.split(' ')

function isPerson(node: PathNode): boolean {
  return [...node.children.values()].some((child) => PERSON.includes(child.folded))
}

function shown(node: PathNode): RunnerUp {
  // Elements inside the guess are counted in a sample only.
  return { records: pathOf(node), postings: node.isInside && isSampled(node) ? null : node.count }
}

function isSampled(node: PathNode | null): boolean {
  if (node === null) return false
  return (node.lookedInto !== null && node.lookedInto < node.count) || isSampled(node.parent)
}

const isStrongHere = ({ depth, isStrong }: PathNode) => isStrong && depth <= DEEPEST_STRONG
const isWeakHere = ({ depth, isWeak }: PathNode) => isWeak && depth > 1 && depth <= DEEPEST
const isStructured = (node: PathNode) => node.hasElements || node.hasAttributes

function isSingle(node: PathNode | null): boolean {
  return node === null || (node.count === 1 && isSingle(node.parent))
}

/** byPlace puts the shallowest path first; of equally shallow paths, the most frequent first. */
function byPlace(a: PathNode, b: PathNode): number {
  return a.depth - b.depth || b.count - a.count
}

const same = (name: string) => name

/** matches returns whether a node is at a path. `fold` makes names comparable; a prefix can be left out of the path. */
function matches(node: PathNode, path: readonly string[], fold: (name: string) => string): boolean {
  if (node.depth !== path.length) return false
  for (let at: PathNode | null = node; at !== null; at = at.parent) {
    const step = fold(path[at.depth - 1] ?? '')
    if (fold(at.name) !== step && fold(withoutPrefix(at.name)) !== step) return false
  }
  return true
}
