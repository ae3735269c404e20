// Follows the elements of a posting and says which of them hold a field. Works like an automaton
// whose transitions are remembered by name, since every posting has the same few names.

import type { Attributes } from '../xml/handler.ts'
import type { Name } from '../xml/names.ts'
import { FIELDS, type Field, type FieldPath, pathsOf } from './field-paths.ts'
import { folded, withoutPrefix } from './names.ts'
import type { FieldPaths } from './port.ts'
import { type Found, longest, type PostingValues, PROSE } from './posting-values.ts'

/** A field on the way to which an element is, or which it holds: in its text, or in the attribute of the path. */
export interface Capture extends Found {
  path: FieldPath
  /** Steps of the path that were taken. */
  taken: number
}

/**
 * Transitions that are remembered, from one place and in all: a feed may write a path in as many ways as it has
 * postings. The others are found anew each time.
 */
const MOST_REMEMBERED = 1_000

export class Place {
  /** In the text of this element. */
  readonly captures: readonly Capture[]
  /** Text here belongs to the prose of an element around this one, whose captures these are. */
  readonly inProse: boolean
  /** Whether an attribute of this element may hold a field. */
  readonly hasAttributes: boolean
  /** Whether a plain value of this place can stay in the bytes of the feed. */
  readonly isPlain: boolean
  /** Characters of the text that a capture may need. */
  readonly longest: number
  readonly #progress: readonly Capture[]
  readonly #inAttributes: readonly Capture[]
  readonly #next: ByName<Place>
  readonly #ofAttributes: ByName<readonly Capture[]>
  /** The place of elements that lead to no field. */
  readonly #within: Place
  readonly #room: Room

  constructor(
    progress: readonly Capture[],
    prose: readonly Capture[] = [],
    room: Room = { left: MOST_REMEMBERED },
  ) {
    this.#progress = progress
    this.#room = room
    this.#next = new ByName(room)
    this.#ofAttributes = new ByName(room)
    this.inProse = prose.length > 0
    const reached = progress.filter(({ path, taken }) => taken === path.steps.length)
    const inText = reached.filter(({ path }) => path.attribute === null)
    this.captures = this.inProse ? prose : inText
    this.#inAttributes = reached.filter(({ path }) => path.attribute !== null)
    this.hasAttributes = this.#inAttributes.length > 0
    this.isPlain = this.captures.every(({ field }) => field !== PROSE)
    this.longest = Math.max(0, ...this.captures.map(({ field }) => longest(field)))
    const whole = inText.filter(({ field }) => field === PROSE)
    if (this.inProse || progress.length === 0) this.#within = this
    else this.#within = whole.length > 0 ? new Place([], whole) : NOWHERE
  }

  /** Whether something here, or below, may hold a field that counts. */
  mayHold(values: PostingValues): boolean {
    if (this.inProse) return true
    // A rank never gets lower on the way down.
    for (const { field, rank } of this.#progress) if (values.counts(field, rank)) return true
    return false
  }

  /** Whether the text here may be a value that counts. */
  wantsText(values: PostingValues): boolean {
    for (const { field, rank } of this.captures) if (values.counts(field, rank)) return true
    return false
  }

  /** The place of a child element. */
  enter(name: Name, attributes: Attributes): Place {
    if (this.#progress.length === 0) return this.#within
    const known = this.#next.get(name)
    if (known !== undefined) return known
    const taken = this.#progress.flatMap((progress) => step(progress, name.text))
    const open = taken.filter((progress) => conditionHolds(progress, attributes))
    const place = open.length === 0 ? this.#within : new Place(open, [], this.#room)
    const depends = taken.some(({ path, taken: n }) => path.steps[n - 1]?.condition !== null)
    if (!depends) this.#next.remember(name, place)
    return place
  }

  /** What an attribute of this element holds. */
  attribute(name: Name): readonly Capture[] {
    const known = this.#ofAttributes.get(name)
    if (known !== undefined) return known
    const captures = this.#inAttributes.flatMap((capture) => attribute(capture, name))
    this.#ofAttributes.remember(name, captures)
    return captures
  }
}

interface Room {
  left: number
}

/** By the numbers of names, and the names themselves: numbers are given anew when names were forgotten. */
class ByName<T> {
  readonly #found: T[] = []
  readonly #names: Name[] = []
  /** What may still be remembered, of all places that are reached from one record. */
  readonly #room: Room

  constructor(room: Room) {
    this.#room = room
  }

  get(name: Name): T | undefined {
    return this.#names[name.number] === name ? this.#found[name.number] : undefined
  }

  remember(name: Name, found: T): void {
    const { number } = name
    if (number >= MOST_REMEMBERED) return
    if (this.#names[number] === undefined && this.#room.left-- <= 0) return
    this.#found[number] = found
    this.#names[number] = name
  }
}

/** What is added to a rank: names that differ count less, but more than those of the next path. */
const [PREFIXED, FOLDED, BETTER] = [1, 2, 4]

/** Where no field is, nor anywhere below. */
const NOWHERE: Place = new Place([])

/** The place of the record element itself, which has this local name. */
export function recordPlace(
  fields: readonly Field[],
  configured: FieldPaths,
  record: string,
): Place {
  return new Place(
    fields.flatMap((field) =>
      pathsOf(field, configured, record).map((path, i) => ({
        field: FIELDS.indexOf(field),
        path,
        taken: 0,
        rank: i * BETTER,
        written: '',
      })),
    ),
  )
}

/** The value of an attribute: as written, then without its prefix, then written in another way. */
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
  const less = likeness(next.name, name)
  if (less === null) return []
  const { condition } = next
  const where = condition === null ? '' : `[@${condition.attribute}='${condition.value}']`
  const written = `${progress.written}${progress.taken === 0 ? '' : '/'}${shown(next.name, name)}`
  const taken = progress.taken + 1
  return [{ ...progress, taken, rank: progress.rank | less, written: written + where }]
}

function attribute(capture: Capture, { declares, text }: Name): Capture[] {
  const name = capture.path.attribute ?? ''
  const less = declares === null ? likeness(name, text) : null
  if (less === null) return []
  const written = `${capture.written}${capture.taken === 0 ? '' : '/'}@${shown(name, text)}`
  return [{ ...capture, rank: capture.rank | less, written }]
}

/** 0 where a name is written as in the path, more where it is like it, null where it is another one. */
function likeness(name: string, written: string): number | null {
  if (written === name) return 0
  const local = withoutPrefix(written)
  if (local === name) return PREFIXED
  return [written, local].some((each) => folded(each) === folded(name)) ? FOLDED : null
}

/** The prefix only where the path asks for it. */
function shown(name: string, written: string): string {
  return name.includes(':') ? written : withoutPrefix(written)
}

function conditionHolds({ path, taken }: Capture, attributes: Attributes): boolean {
  const condition = path.steps[taken - 1]?.condition ?? null
  return condition === null || attributeValue(attributes, condition.attribute) === condition.value
}
