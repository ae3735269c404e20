// Follows the elements of a posting and says which of them hold a field. Works like an automaton
// whose transitions are remembered by name, since every posting has the same few names.

import type { Field, FieldPath, Step } from './field-paths.ts'
import type { Name } from './names.ts'
import { withoutPrefix } from './record-path.ts'
import type { Attributes } from './xml-events.ts'

/** A field that an element's text or attribute holds. The lowest rank wins. */
export interface Capture {
  field: Field
  rank: number
  /** Null: the text of the element. */
  attribute: string | null
}

interface Progress {
  field: Field
  path: FieldPath
  /** Steps that were taken. */
  taken: number
  rank: number
}

/** Characters of a value that are kept: ids and names are far shorter, and a description holds keywords. */
export const longest = (field: Field) => (field === 'description' ? 65_536 : 1_000)
/** Values of several elements are put together, and what stands in elements within is part of them. */
export const isProse = (field: Field) => field === 'description'

/** A path beyond this many different names is followed without remembering. */
const MOST_REMEMBERED = 1_000

export class Place {
  readonly captures: readonly Capture[]
  /** Text here belongs to the prose of an element around this one, whose captures these are. */
  readonly inProse: boolean
  /** Whether a field may be in the text here. */
  readonly wantsText: boolean
  /** Characters of the text that a capture may need. */
  readonly longest: number
  /** For the reader: 0 where it has no number, null where it was never. */
  number: number | null = null
  readonly #progress: readonly Progress[]
  readonly #next = new Map<string, Place>()
  /** The place of elements that lead to no field. */
  readonly #within: Place

  constructor(progress: readonly Progress[], prose: readonly Capture[] = []) {
    this.#progress = progress
    this.inProse = prose.length > 0
    this.captures = this.inProse
      ? prose
      : progress
          .filter(({ path, taken }) => taken === path.steps.length)
          .map(({ field, rank, path }) => ({ field, rank, attribute: path.attribute }))
    this.wantsText = this.captures.some(({ attribute }) => attribute === null)
    this.longest = Math.max(0, ...this.captures.map(({ field }) => longest(field)))
    const whole = this.captures.filter((one) => one.attribute === null && isProse(one.field))
    if (this.inProse || progress.length === 0) this.#within = this
    else this.#within = whole.length > 0 ? new Place([], whole) : NOWHERE
  }

  /** Whether no child element of this name can hold a field, nor any below it. */
  ignores(name: string): boolean {
    return this.#progress.length === 0 ? this.#within === NOWHERE : this.#next.get(name) === NOWHERE
  }

  /** Whether something here, or below, may hold a field. `isBetter`: than what the posting has of it. */
  mayHold(isBetter: (field: Field, rank: number) => boolean): boolean {
    if (this.inProse) return true
    // A rank never gets lower on the way down.
    for (const { field, rank } of this.#progress) if (isBetter(field, rank)) return true
    return false
  }

  /** The place of a child element. */
  enter({ text: name }: Name, attributes: Attributes): Place {
    if (this.#progress.length === 0) return this.#within
    const known = this.#next.get(name)
    if (known !== undefined) return known
    const taken = this.#progress.flatMap((progress) => step(progress, name))
    const open = taken.filter((progress) => conditionHolds(progress, attributes))
    const place = open.length === 0 ? this.#within : new Place(open)
    const depends = taken.some(({ path, taken: n }) => path.steps[n - 1]?.condition !== null)
    if (!depends && this.#next.size < MOST_REMEMBERED) this.#next.set(name, place)
    return place
  }
}

/** Where no field is, nor anywhere below. */
const NOWHERE: Place = new Place([])

/** The place of the record element itself. */
export function recordPlace(paths: ReadonlyArray<readonly [Field, FieldPath[]]>): Place {
  return new Place(
    paths.flatMap(([field, alternatives]) =>
      alternatives.map((path, i) => ({ field, path, taken: 0, rank: i * 2 })),
    ),
  )
}

/** The value of an attribute: as written, then without its prefix, then in any case. */
export function attributeValue(attributes: Attributes, name: string): string | null {
  const { names, count } = attributes
  if (count === 0) return null
  const rules = [
    (written: string) => written === name,
    (written: string) => withoutPrefix(written) === name,
    (written: string) => withoutPrefix(written).toLowerCase() === name.toLowerCase(),
  ]
  for (const rule of rules) {
    for (let i = 0; i < count; i++) if (rule(names[i]?.text ?? '')) return attributes.valueAt(i)
  }
  return null
}

function step(progress: Progress, name: string): Progress[] {
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

function conditionHolds({ path, taken }: Progress, attributes: Attributes): boolean {
  const condition = path.steps[taken - 1]?.condition ?? null
  return condition === null || attributeValue(attributes, condition.attribute) === condition.value
}
