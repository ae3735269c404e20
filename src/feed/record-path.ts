// Finds the path of the postings: the configured one, or the path whose name and fields are most like the name and
// fields of a posting. The first pass guesses from names; the end of the document decides with everything that was
// counted.

import type { FieldPaths } from '../domain/mapping.ts'
import { type Evidence, EvidenceReader, lookedInto } from './evidence.ts'
import { folded, withoutPrefix } from './names.ts'
import { type PathNode, PathTree, pathOf } from './path-tree.ts'
import type { RunnerUp } from './port.ts'
import { isCompound, isOneOf } from './record-names.ts'

/**
 * DEEPEST limits the depth of detected records, and DEEPEST_STRONG the depth of records that have a title or a name
 * that means a posting (record-names.ts). The root has depth 1.
 */
const DEEPEST_STRONG = 8
const DEEPEST = 4
/** FIELD_DEPTH is how many levels of elements below a record are counted, to find its fields. */
const FIELD_DEPTH = 4

export interface Choice {
  /** Full path of the postings; null if the document has no postings. */
  records: string | null
  /** The path that was nearly chosen; null if the choice was clear. */
  runnerUp: RunnerUp | null
}

export class RecordFinder {
  readonly tree: PathTree
  readonly #configured: readonly string[] | null
  readonly #evidence: EvidenceReader

  /**
   * `records` is the configured path of the postings (`/source/job`), or null. `fields` are configured paths of fields.
   */
  constructor(records: string | null, fields: FieldPaths) {
    this.#configured = records === null ? null : records.split('/').filter((name) => name !== '')
    this.#evidence = new EvidenceReader(fields)
    this.tree = new PathTree(Math.max(DEEPEST_STRONG, this.#configured?.length ?? 0) + FIELD_DEPTH)
  }

  /**
   * looksLikeRecord guesses from the name and depth of an element whether the elements of its path are the postings.
   */
  looksLikeRecord(node: PathNode): boolean {
    if (this.#configured !== null) return matches(node, this.#configured, folded)
    return isStrongHere(node) || isWeakHere(node)
  }

  /**
   * choose returns the path of the postings, and the path that was nearly chosen. Call it after the whole document.
   * `guess` is the path that `looksLikeRecord` chose during the reading; it is the answer if no other path fits.
   */
  choose(guess: PathNode | null): Choice {
    // A path inside the postings of `guess` is not a candidate, but `#within` can still choose it.
    const nodes = [...this.tree.nodes()].filter(({ isInside }) => !isInside)
    if (this.#configured !== null) {
      const configured = this.#configured
      const record = nodes.find((node) => matches(node, configured, asWritten)) ?? guess
      return { records: record && pathOf(record), runnerUp: null }
    }
    const ranked = nodes.flatMap((node) => {
      const rank = isStructured(node) ? this.#rank(node) : null
      return rank === null ? [] : [{ node, rank }]
    })
    ranked.sort((a, b) => a.rank - b.rank || byDepthAndCount(a.node, b.node))
    const [first, second] = ranked
    if (first === undefined) return { records: guess && pathOf(guess), runnerUp: null }
    const isClose = second?.rank === first.rank && second.node.depth === first.node.depth
    return this.#within(first.node, isClose ? second.node : null)
  }

  /**
   * #rank says how likely the elements of a path are the postings: 0 is the most likely, 7 the least likely; null means
   * that the path cannot be chosen. A title, or an id with a name that means a posting, comes before any other name.
   */
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

  /**
   * #within looks inside the best candidate for elements that are more like postings, because the candidate might be a
   * group of postings. `closeSecond` is the runner-up unless #within finds another.
   */
  #within(best: PathNode, closeSecond: PathNode | null): Choice {
    let record = best
    let runnerUp = closeSecond
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
    return { records: pathOf(record), runnerUp: runnerUp && runnerUpAt(runnerUp) }
  }

  /** #byEvidence puts the path that is most like postings first. */
  #byEvidence(a: PathNode, b: PathNode): number {
    const score = this.#evidence.of(b).score - this.#evidence.of(a).score
    return score || Number(b.isStrong) - Number(a.isStrong) || byDepthAndCount(a, b)
  }

  /**
   * #replaces returns true if the elements of `inner` are the postings, and an element of `group` only contains them.
   */
  #replaces(inner: PathNode, group: PathNode): boolean {
    const [found, around] = [this.#evidence.of(inner), this.#evidence.of(group)]
    const isMore = inner.count > lookedInto(group)
    if (inner.isStrong) return strongReplaces({ inner, group, found, around, isMore })
    if (group.isStrong) return isMore && found.hasTitle && !around.hasTitle && !around.hasId
    if (around.hasTitle) {
      const isRich = found.hasDescription || found.hasPlace
      const isEqual = found.score === around.score
      const isAsGood = isEqual && (isRich || (inner.isWeak && !group.isWeak))
      // A company has a name, and a posting of the company has a title.
      const isOfCompany = around.isNamed && !found.isNamed && (found.hasId || isRich)
      return isMore && found.hasTitle && (found.score > around.score || isAsGood || isOfCompany)
    }
    const isNamed = inner.isWeak || isCompound(inner.name)
    const hasMoreThanTitle = isMore || found.hasId || found.hasDescription || isNamed
    const isSure = found.hasTitle && (hasMoreThanTitle || !isPerson(inner))
    return isSure || (!around.hasId && isMore && found.hasId && inner.hasElements)
  }

  /** #isClose returns true if `inner` was nearly chosen instead of the postings that contain it. */
  #isClose(inner: PathNode, group: PathNode): boolean {
    const [found, around] = [this.#evidence.of(inner), this.#evidence.of(group)]
    if (inner.folded === group.folded || inner.count <= lookedInto(group)) return false
    return found.hasTitle && found.score + 1 >= around.score
  }
}

/** Nesting is a path inside another path, with the evidence for both. */
interface Nesting {
  inner: PathNode
  group: PathNode
  /** The evidence that the elements of `inner` are postings. */
  found: Evidence
  /** The evidence that the elements of `group` are postings. */
  around: Evidence
  /** True if there are more elements of `inner` than of `group`. */
  isMore: boolean
}

/** strongReplaces is `#replaces` for an inner path whose name means a posting. */
function strongReplaces({ inner, group, found, around, isMore }: Nesting): boolean {
  const isBare = !around.hasTitle && !around.hasId
  const isPosting = found.hasTitle || (isMore && found.hasId)
  // A posting can list similar postings.
  if (inner.folded === group.folded) return isBare && isPosting
  // A single element with the name of a posting is probably a group; so is an element with another name and no title.
  const isLikelyGroup = group.isStrong ? lookedInto(group) === 1 : !around.hasTitle
  if (isMore && isLikelyGroup && inner.hasElements && !around.hasDescription) return true
  if (isBare) return isPosting
  if (!isMore) return !group.isStrong && found.hasTitle && found.score > around.score
  return (!group.isStrong && found.hasTitle) || found.score >= around.score
}

/** PERSON has names of elements that a person has beside a title such as "Dr". */
const PERSON = 'name firstname lastname surname vorname nachname nom prenom email phone'.split(' ')

function isPerson(node: PathNode): boolean {
  return [...node.children.values()].some((child) => PERSON.includes(child.folded))
}

function runnerUpAt(node: PathNode): RunnerUp {
  // Elements inside the postings that were read are counted in a sample only.
  return { records: pathOf(node), postings: node.isInside && isSampled(node) ? null : node.count }
}

function isSampled(node: PathNode | null): boolean {
  if (node === null) return false
  return (node.lookedInto !== null && node.lookedInto < node.count) || isSampled(node.parent)
}

const isStrongHere = ({ depth, isStrong }: PathNode) => isStrong && depth <= DEEPEST_STRONG
const isWeakHere = ({ depth, isWeak }: PathNode) => isWeak && depth > 1 && depth <= DEEPEST
const isStructured = (node: PathNode) => node.hasElements || node.hasAttributes

/** isSingle returns true if the document has only one element of this path. */
function isSingle(node: PathNode | null): boolean {
  return node === null || (node.count === 1 && isSingle(node.parent))
}

/** byDepthAndCount puts the shallowest path first; of equally shallow paths, the most frequent first. */
function byDepthAndCount(a: PathNode, b: PathNode): number {
  return a.depth - b.depth || b.count - a.count
}

const asWritten = (name: string) => name

/** matches returns true if a node is at a path. `fold` makes names comparable. The path can leave out prefixes. */
function matches(node: PathNode, path: readonly string[], fold: (name: string) => string): boolean {
  if (node.depth !== path.length) return false
  for (let at: PathNode | null = node; at !== null; at = at.parent) {
    const step = fold(path[at.depth - 1] ?? '')
    if (fold(at.name) !== step && fold(withoutPrefix(at.name)) !== step) return false
  }
  return true
}
