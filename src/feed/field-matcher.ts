// Follows the elements of a posting and says which of them hold a field. Works like an automaton
// whose transitions are remembered by name, since every posting has the same few names.

import type { Attributes } from '../xml/handler.ts'
import type { Name } from '../xml/names.ts'
import { FIELDS, type Field, type FieldPath, type Step } from './field-paths.ts'
import { longest, type PostingValues, PROSE } from './posting-values.ts'
import { withoutPrefix } from './record-path.ts'

/** A field on the way to which an element is, or which it holds: in its text, or in the attribute of the path. */
export interface Capture {
  /** Its number in `FIELDS`. */
  field: number
  path: FieldPath
  /** Steps of the path that were taken. */
  taken: number
  /** The lowest wins. */
  rank: number
}

/**
 * Transitions that are remembered, from one place and in all: a feed may write a path in as many ways as it has
 * postings. The others are found anew each time.
 */
const MOST_REMEMBERED = 1_000

export class Place {
  readonly captures: readonly Capture[]
  /** Text here belongs to the prose of an element around this one, whose captures these are. */
  readonly inProse: boolean
  readonly #hasText: boolean
  /** Whether a plain value of this place can stay in the bytes of the feed. */
  readonly isPlain: boolean
  /** Characters of the text that a capture may need. */
  readonly longest: number
  readonly #progress: readonly Capture[]
  /** By the numbers of the names, and the names themselves: numbers are given anew when names were forgotten. */
  readonly #next: Place[] = []
  readonly #names: Name[] = []
  /** The place of elements that lead to no field. */
  readonly #within: Place
  /** Transitions that may still be remembered, of all places that are reached from one record. */
  readonly #room: { left: number }

  constructor(
    progress: readonly Capture[],
    prose: readonly Capture[] = [],
    room = { left: MOST_REMEMBERED },
  ) {
    this.#progress = progress
    this.#room = room
    this.inProse = prose.length > 0
    const reached = progress.filter(({ path, taken }) => taken === path.steps.length)
    this.captures = this.inProse ? prose : reached
    const inText = this.captures.filter(({ path }) => path.attribute === null)
    this.#hasText = inText.length > 0
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
    if (!this.#hasText) return false
    for (const { path, field, rank } of this.captures) {
      if (path.attribute === null && values.counts(field, rank)) return true
    }
    return false
  }

  /** The place of a child element. */
  enter(name: Name, attributes: Attributes): Place {
    if (this.#progress.length === 0) return this.#within
    const { number } = name
    if (this.#names[number] === name) return this.#next[number] as Place
    const taken = this.#progress.flatMap((progress) => step(progress, name.text))
    const open = taken.filter((progress) => conditionHolds(progress, attributes))
    const place = open.length === 0 ? this.#within : new Place(open, [], this.#room)
    const depends = taken.some(({ path, taken: n }) => path.steps[n - 1]?.condition !== null)
    if (!depends && number < MOST_REMEMBERED && this.#hasRoom(number)) {
      this.#next[number] = place
      this.#names[number] = name
    }
    return place
  }

  #hasRoom(number: number): boolean {
    return this.#names[number] !== undefined || this.#room.left-- > 0
  }
}

/** Where no field is, nor anywhere below. */
const NOWHERE: Place = new Place([])

/** The place of the record element itself. */
export function recordPlace(paths: ReadonlyArray<readonly [Field, FieldPath[]]>): Place {
  return new Place(
    paths.flatMap(([field, alternatives]) =>
      alternatives.map((path, i) => ({
        field: FIELDS.indexOf(field),
        path,
        taken: 0,
        rank: i * 2,
      })),
    ),
  )
}

/** The value of an attribute: as written, then without its prefix, then in any case. */
export function attributeValue(attributes: Attributes, name: string): string | null {
  const { count } = attributes
  if (count === 0) return null
  const rules = [
    (written: string) => written === name,
    (written: string) => withoutPrefix(written) === name,
    (written: string) => withoutPrefix(written).toLowerCase() === name.toLowerCase(),
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
  const taken = progress.taken + 1
  if (isNamed(next, name)) return [{ ...progress, taken }]
  // Names in another case count less than those written as configured.
  const folded = { ...next, name: next.name.toLowerCase() }
  return isNamed(folded, name.toLowerCase())
    ? [{ ...progress, taken, rank: progress.rank | 1 }]
    : []
}

function isNamed({ name }: Step, written: string): boolean {
  return written === name || withoutPrefix(written) === name
}

function conditionHolds({ path, taken }: Capture, attributes: Attributes): boolean {
  const condition = path.steps[taken - 1]?.condition ?? null
  return condition === null || attributeValue(attributes, condition.attribute) === condition.value
}
