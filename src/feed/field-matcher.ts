// Follows the elements of a posting and finds those that hold a field. It works like an automaton and caches
// its transitions by name, because every posting uses the same few names.

import type { Attributes } from '../xml/handler.ts'
import type { Name } from '../xml/names.ts'
import {
  ANY_ID,
  FIELDS,
  type Field,
  type FieldPath,
  type PathChoice,
  pathsOf,
} from './field-paths.ts'
import { folded, withoutPrefix } from './names.ts'
import { type FieldSource, longest, type PostingValues, PROSE, TITLE } from './posting-values.ts'

/** Capture says how far an element is along the path of one field. After the last step the element holds the field. */
export interface Capture extends FieldSource {
  path: FieldPath
  /** taken counts the steps of the path up to this element. */
  taken: number
}

/**
 * MOST_CACHED limits the cached transitions, of one place and in total, because each posting can spell a path in its
 * own way. Transitions beyond the limit are computed each time.
 */
const MOST_CACHED = 1_000

/** Place is the position of an element within a posting. */
export class Place {
  /**
   * captures are the fields that the text of this element holds. Inside prose, they are the captures of the prose
   * element.
   */
  readonly captures: readonly Capture[]
  /** inProse: this element lies within a description, so its text belongs to that description. */
  readonly inProse: boolean
  /** hasAttributes: an attribute of this element might hold a field. */
  readonly hasAttributes: boolean
  /** isPlain: plain values of this place can stay in the bytes of the feed. */
  readonly isPlain: boolean
  /** longest is how many characters of the text a capture can need. */
  readonly longest: number
  readonly #progress: readonly Capture[]
  /** #index finds the captures of a record by name; null means it compares with each of them. */
  readonly #index: RecordIndex | null
  readonly #attributeCaptures: readonly Capture[]
  readonly #children: ByName<Place>
  readonly #capturesOfAttribute: ByName<readonly Capture[]>
  /** #unmatched is the place of child elements that lead to no field. */
  readonly #unmatched: Place
  readonly #cacheSpace: CacheSpace

  constructor({
    progress = [],
    prose = [],
    cacheSpace = { left: MOST_CACHED },
    index = null,
  }: {
    progress?: readonly Capture[]
    prose?: readonly Capture[]
    cacheSpace?: CacheSpace
    index?: RecordIndex | null
  } = {}) {
    this.#progress = progress
    this.#index = index
    this.#cacheSpace = cacheSpace
    this.#children = new ByName(cacheSpace)
    this.#capturesOfAttribute = new ByName(cacheSpace)
    this.inProse = prose.length > 0
    const reached = index?.attributes ?? progress.filter(isReached)
    const inText = reached.filter(({ path }) => path.attribute === null)
    this.captures = this.inProse ? prose : inText
    this.#attributeCaptures = reached.filter(({ path }) => path.attribute !== null)
    this.hasAttributes = this.#attributeCaptures.length > 0
    this.isPlain = this.captures.every(({ field }) => field !== PROSE)
    this.longest = Math.max(0, ...this.captures.map(({ field }) => longest(field)))
    const inner = inText.filter(({ field }) => field === PROSE)
    if (this.inProse || progress.length === 0) this.#unmatched = this
    else this.#unmatched = inner.length > 0 ? new Place({ prose: inner }) : NOWHERE
  }

  /** canHold returns true if this element, or one below it, might hold a value that counts. */
  canHold(values: PostingValues): boolean {
    if (this.inProse) return true
    // The rank of a child is never lower than the rank of its parent.
    for (const { field, rank } of this.#progress) if (values.counts(field, rank)) return true
    return false
  }

  /** wantsText returns true if the text of this element might be a value that counts. */
  wantsText(values: PostingValues): boolean {
    for (const { field, rank } of this.captures) if (values.counts(field, rank)) return true
    return false
  }

  enter(name: Name, attributes: Attributes): Place {
    if (this.#progress.length === 0) return this.#unmatched
    const known = this.#children.get(name)
    if (known !== undefined) return known
    const taken = this.#taking(name.text).flatMap((progress) => step(progress, name.text))
    const open = taken.filter((progress) => conditionHolds(progress, attributes))
    const place =
      open.length === 0
        ? this.#unmatched
        : new Place({ progress: open, cacheSpace: this.#cacheSpace })
    const depends = taken.some(({ path, taken: n }) => path.steps[n - 1]?.condition !== null)
    if (!depends) this.#children.cache(name, place)
    return place
  }

  /** attribute returns the fields that an attribute of this element holds. */
  attribute(name: Name): readonly Capture[] {
    const known = this.#capturesOfAttribute.get(name)
    if (known !== undefined) return known
    const captures = this.#holding(name.text).flatMap((capture) => attribute(capture, name))
    this.#capturesOfAttribute.cache(name, captures)
    return captures
  }

  /** #taking returns the captures that a child of this name might continue. */
  #taking(name: string): readonly Capture[] {
    return this.#index === null ? this.#progress : named(this.#index.bySteps, name)
  }

  /** #holding returns the captures that an attribute of this name might hold. */
  #holding(name: string): readonly Capture[] {
    if (this.#index === null) return this.#attributeCaptures
    return [...named(this.#index.byAttributes, name), ...named(this.#index.byAttributes, ANY_ID)]
  }
}

/** RecordIndex has the several hundred captures of a record, so that an element needs to be compared with a few. */
interface RecordIndex {
  progress: readonly Capture[]
  attributes: readonly Capture[]
  bySteps: ByFolded
  byAttributes: ByFolded
}

type ByFolded = ReadonlyMap<string, readonly Capture[]>

function isReached({ path, taken }: Capture): boolean {
  return taken === path.steps.length
}

function indexOf(progress: readonly Capture[]): RecordIndex {
  const attributes = progress.filter(isReached)
  return {
    progress,
    attributes,
    bySteps: grouped(progress, ({ path }) => path.steps[0]?.name ?? null),
    byAttributes: grouped(attributes, ({ path }) => path.attribute),
  }
}

function grouped(
  captures: readonly Capture[],
  nameOf: (capture: Capture) => string | null,
): ByFolded {
  const groups = new Map<string, Capture[]>()
  for (const capture of captures) {
    const name = nameOf(capture)
    if (name === null) continue
    const group = groups.get(folded(name))
    if (group === undefined) groups.set(folded(name), [capture])
    else group.push(capture)
  }
  return groups
}

/** named returns the captures for a written name, with or without its prefix. */
function named(groups: ByFolded, written: string): readonly Capture[] {
  const names = new Set([folded(written), folded(withoutPrefix(written))])
  return [...names].flatMap((name) => groups.get(name) ?? [])
}

/** CacheSpace counts the transitions that may still be cached; all places below one record share it. */
interface CacheSpace {
  left: number
}

/** ByName finds values by the number of a name. It compares the name too, because the name table reuses numbers. */
class ByName<T> {
  readonly #found: T[] = []
  readonly #names: Name[] = []
  readonly #space: CacheSpace

  constructor(space: CacheSpace) {
    this.#space = space
  }

  get(name: Name): T | undefined {
    return this.#names[name.number] === name ? this.#found[name.number] : undefined
  }

  cache(name: Name, found: T): void {
    const { number } = name
    if (number >= MOST_CACHED) return
    if (this.#names[number] === undefined && this.#space.left-- <= 0) return
    this.#found[number] = found
    this.#names[number] = name
  }
}

/**
 * A rank grows by PREFIXED or FOLDED if a name is not written as in its path, and by NEXT_PATH for each path that is
 * preferred to it. So the preferred path always wins.
 */
const [PREFIXED, FOLDED, NEXT_PATH] = [1, 2, 4]

/** NOWHERE is a place without a field, here or below. */
const NOWHERE: Place = new Place()

/** MOST_INDEXES limits the indexes that are kept; most feeds use one of a few names for their postings. */
const MOST_INDEXES = 32
const indexes = new Map<string, RecordIndex>()

/** recordPlace returns the place of the record element. */
export function recordPlace(fields: readonly Field[], choice: PathChoice): Place {
  const index = indexFor(fields, choice)
  return new Place({ progress: index.progress, index })
}

/** indexFor keeps the indexes of feeds without configured paths, because making one takes as long as a small feed. */
function indexFor(fields: readonly Field[], choice: PathChoice): RecordIndex {
  const isUsual = Object.keys(choice.configured).length === 0 && choice.excludedIds === null
  if (!isUsual) return indexOf(capturesOf(fields, choice))
  const key = `${choice.record} ${fields.join()}`
  const known = indexes.get(key)
  if (known !== undefined) return known
  const index = indexOf(capturesOf(fields, choice))
  if (indexes.size >= MOST_INDEXES) indexes.clear()
  indexes.set(key, index)
  return index
}

function capturesOf(fields: readonly Field[], choice: PathChoice): Capture[] {
  return fields.flatMap((field) => {
    const isDetected = choice.configured[field] === undefined
    const number = FIELDS.indexOf(field)
    return pathsOf(field, choice).map((path, i) => ({
      field: number,
      path,
      taken: 0,
      rank: i * NEXT_PATH,
      written: '',
      isNoNumber: isDetected && number === TITLE,
    }))
  })
}

/** attributeValue looks for the exact name first, then ignores the prefix, then also case, `_` and `-`. */
function attributeValue(attributes: Attributes, name: string): string | null {
  const { count } = attributes
  if (count === 0) return null
  const rules = [
    (written: string) => written === name,
    (written: string) => withoutPrefix(written) === name,
    (written: string) => folded(withoutPrefix(written)) === folded(name),
  ]
  for (const rule of rules) {
    for (let i = 0; i < count; i++)
      if (rule(attributes.nameAt(i).text)) return attributes.valueAt(i)
  }
  return null
}

function step(progress: Capture, name: string): Capture[] {
  const next = progress.path.steps[progress.taken]
  if (next === undefined) return []
  const penalty = spellingPenalty(next.name, name)
  if (penalty === null) return []
  const { condition } = next
  const where = condition === null ? '' : `[@${condition.attribute}='${condition.value}']`
  const written = `${progress.written}${progress.taken === 0 ? '' : '/'}${shown(next.name, name)}`
  const taken = progress.taken + 1
  return [{ ...progress, taken, rank: progress.rank | penalty, written: written + where }]
}

function attribute(capture: Capture, { declares, text }: Name): Capture[] {
  const name = capture.path.attribute ?? ''
  if (name === ANY_ID) return declares === null ? anyId(capture, text) : []
  const penalty = declares === null ? spellingPenalty(name, text) : null
  if (penalty === null) return []
  const written = `${capture.written}${capture.taken === 0 ? '' : '/'}@${shown(name, text)}`
  return [{ ...capture, rank: capture.rank | penalty, written }]
}

/** OTHER_IDS are ids of something else than the posting. */
const OTHER_IDS = /(campaign|requisition|company|employer|client|category|location|user|account)id$/

/** anyId takes an attribute whose name ends in the word "id", such as `position-id` or `offerId`. */
function anyId(capture: Capture, text: string): Capture[] {
  const isId = /[^_-](?:[_-]id|I[dD])$/.test(text) || /[_-]id$/i.test(text)
  if (!isId || OTHER_IDS.test(folded(text))) return []
  return [{ ...capture, written: `@${withoutPrefix(text)}` }]
}

/** spellingPenalty returns 0 for the exact name, more for another spelling of it, and null for another name. */
function spellingPenalty(name: string, written: string): number | null {
  if (written === name) return 0
  const local = withoutPrefix(written)
  if (local === name) return PREFIXED
  return [written, local].some((each) => folded(each) === folded(name)) ? FOLDED : null
}

/** shown keeps the prefix only if the path has one. */
function shown(name: string, written: string): string {
  return name.includes(':') ? written : withoutPrefix(written)
}

function conditionHolds({ path, taken }: Capture, attributes: Attributes): boolean {
  const condition = path.steps[taken - 1]?.condition ?? null
  return condition === null || attributeValue(attributes, condition.attribute) === condition.value
}
