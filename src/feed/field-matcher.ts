// Follows the elements of a posting and finds the elements and attributes that hold a field. It works like an automaton
// whose states are places. It caches its transitions by name, because every posting uses the same few names.

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

/** Place says which fields an open element of a posting, and the elements and attributes in it, can hold. */
export class Place {
  /** captures are the fields that the text of this element holds; inside a description, the description itself. */
  readonly captures: readonly Capture[]
  /** inProse is true if this element lies within a description, so its text belongs to the description. */
  readonly inProse: boolean
  /** hasAttributes is true if an attribute of this element might hold a field. */
  readonly hasAttributes: boolean
  /** isPlain is true if no capture is a description, so a plain value can stay in the bytes of the feed. */
  readonly isPlain: boolean
  /** longest is the most characters of the text that a capture needs. */
  readonly longest: number
  /** #progress has the captures whose path leads to or through this element. */
  readonly #progress: readonly Capture[]
  /** #index finds the captures of a record by name; null means that a name is compared with each capture. */
  readonly #index: RecordIndex | null
  readonly #attributeCaptures: readonly Capture[]
  readonly #children: ByName<Place>
  readonly #capturesOfAttribute: ByName<readonly Capture[]>
  /** #unmatched is the place of child elements to which no path leads. */
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
    const proseHere = inText.filter(({ field }) => field === PROSE)
    if (this.inProse || progress.length === 0) this.#unmatched = this
    else this.#unmatched = proseHere.length > 0 ? new Place({ prose: proseHere }) : NOWHERE
  }

  /** canHold returns true if this element, or an element inside it, might hold a value that `values` accepts. */
  canHold(values: PostingValues): boolean {
    if (this.inProse) return true
    // The rank of a child is never lower than the rank of its parent.
    for (const { field, rank } of this.#progress) if (values.accepts(field, rank)) return true
    return false
  }

  /** wantsText returns true if the text of this element might be a value that `values` accepts. */
  wantsText(values: PostingValues): boolean {
    for (const { field, rank } of this.captures) if (values.accepts(field, rank)) return true
    return false
  }

  enter(name: Name, attributes: Attributes): Place {
    if (this.#progress.length === 0) return this.#unmatched
    const known = this.#children.get(name)
    if (known !== undefined) return known
    const named = this.#taking(name.text).flatMap((capture) => atElement(capture, name.text))
    const progress = named.filter((capture) => conditionHolds(capture, attributes))
    const place =
      progress.length === 0
        ? this.#unmatched
        : new Place({ progress, cacheSpace: this.#cacheSpace })
    const needsAttributes = named.some(
      ({ path, taken }) => path.steps[taken - 1]?.condition !== null,
    )
    if (!needsAttributes) this.#children.cache(name, place)
    return place
  }

  /** attribute returns the captures that an attribute of this element holds. */
  attribute(name: Name): readonly Capture[] {
    const known = this.#capturesOfAttribute.get(name)
    if (known !== undefined) return known
    const captures = this.#holding(name.text).flatMap((capture) => atAttribute(capture, name))
    this.#capturesOfAttribute.cache(name, captures)
    return captures
  }

  /** #taking returns the captures that a child of this name might continue. */
  #taking(name: string): readonly Capture[] {
    return this.#index === null ? this.#progress : capturesFor(this.#index.bySteps, name)
  }

  /** #holding returns the captures that an attribute of this name might hold. */
  #holding(name: string): readonly Capture[] {
    if (this.#index === null) return this.#attributeCaptures
    const { byAttributes } = this.#index
    return [...capturesFor(byAttributes, name), ...capturesFor(byAttributes, ANY_ID)]
  }
}

/** RecordIndex finds the captures of a record by name, because a record has several hundred captures. */
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

function recordIndexOf(progress: readonly Capture[]): RecordIndex {
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

/** capturesFor returns the captures for a name as the feed writes it, with or without its prefix. */
function capturesFor(groups: ByFolded, written: string): readonly Capture[] {
  const names = new Set([folded(written), folded(withoutPrefix(written))])
  return [...names].flatMap((name) => groups.get(name) ?? [])
}

/** CacheSpace counts the transitions that can still be cached. All places of one record share one CacheSpace. */
interface CacheSpace {
  left: number
}

/** ByName finds values by the number of a name. It also compares the name, because the name table reuses numbers. */
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

  /** cache stores a value for a name, unless the space is used up. */
  cache(name: Name, found: T): void {
    const { number } = name
    if (number >= MOST_CACHED) return
    if (this.#names[number] === undefined && this.#space.left-- <= 0) return
    this.#found[number] = found
    this.#names[number] = name
  }
}

/**
 * The rank of a path grows by NEXT_PATH for each path before it in the list of its field. It grows by PREFIXED or
 * FOLDED if the feed does not write a name as the path does. So an earlier path wins however the feed writes its names.
 */
const [PREFIXED, FOLDED, NEXT_PATH] = [1, 2, 4]

/** NOWHERE is the place of an element that holds no field, and whose inner elements hold none. */
const NOWHERE: Place = new Place()

/** MOST_INDEXES limits the indexes that are kept; most feeds use one of a few names for their postings. */
const MOST_INDEXES = 32
const indexes = new Map<string, RecordIndex>()

/** recordPlace returns the place of the record element. */
export function recordPlace(fields: readonly Field[], choice: PathChoice): Place {
  const index = indexFor(fields, choice)
  return new Place({ progress: index.progress, index })
}

/**
 * indexFor returns the index of a record. It keeps the indexes that need no configured path and exclude no id, because
 * making an index takes as long as reading a small feed.
 */
function indexFor(fields: readonly Field[], choice: PathChoice): RecordIndex {
  const isUsual = Object.keys(choice.configured).length === 0 && choice.excludedIds === null
  if (!isUsual) return recordIndexOf(capturesOf(fields, choice))
  const key = `${choice.record} ${fields.join()}`
  const known = indexes.get(key)
  if (known !== undefined) return known
  const index = recordIndexOf(capturesOf(fields, choice))
  if (indexes.size >= MOST_INDEXES) indexes.clear()
  indexes.set(key, index)
  return index
}

function capturesOf(fields: readonly Field[], choice: PathChoice): Capture[] {
  return fields.flatMap((field) => {
    const isDetected = choice.configured[field] === undefined
    const fieldNumber = FIELDS.indexOf(field)
    return pathsOf(field, choice).map((path, i) => ({
      field: fieldNumber,
      path,
      taken: 0,
      rank: i * NEXT_PATH,
      written: '',
      refusesDigits: isDetected && fieldNumber === TITLE,
    }))
  })
}

/** attributeValue returns the value of the attribute with this name, or else of a similar name, or null. */
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

/** atElement returns the capture as it is in a child element; an empty list if its path does not lead there. */
function atElement(capture: Capture, name: string): Capture[] {
  const next = capture.path.steps[capture.taken]
  if (next === undefined) return []
  const penalty = spellingPenalty(next.name, name)
  if (penalty === null) return []
  const { condition } = next
  const where = condition === null ? '' : `[@${condition.attribute}='${condition.value}']`
  const written = `${capture.written}${capture.taken === 0 ? '' : '/'}${shown(next.name, name)}`
  const taken = capture.taken + 1
  return [{ ...capture, taken, rank: capture.rank | penalty, written: written + where }]
}

/** atAttribute returns the capture as it is in an attribute; an empty list if its path does not end there. */
function atAttribute(capture: Capture, { declares, text }: Name): Capture[] {
  const name = capture.path.attribute ?? ''
  if (name === ANY_ID) return declares === null ? anyId(capture, text) : []
  const penalty = declares === null ? spellingPenalty(name, text) : null
  if (penalty === null) return []
  const written = `${capture.written}${capture.taken === 0 ? '' : '/'}@${shown(name, text)}`
  return [{ ...capture, rank: capture.rank | penalty, written }]
}

/** OTHER_IDS matches folded names of ids that belong to something else than the posting. */
const OTHER_IDS = /(campaign|requisition|company|employer|client|category|location|user|account)id$/

/**
 * anyId returns the capture in an attribute whose name ends in the word "id", such as `position-id` or `offerId`; an
 * empty list for any other name.
 */
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

/** shown returns a name as the feed writes it, without its prefix unless the name in the path has a prefix. */
function shown(name: string, written: string): string {
  return name.includes(':') ? written : withoutPrefix(written)
}

function conditionHolds({ path, taken }: Capture, attributes: Attributes): boolean {
  const condition = path.steps[taken - 1]?.condition ?? null
  return condition === null || attributeValue(attributes, condition.attribute) === condition.value
}
