// What the specification leaves open, as switches: one default for each, and what services may do instead.

import { z } from 'zod'
import { readJson } from './json-file.ts'

const SHAPE = {
  /** Name of the list in the answer of a search. */
  listField: z.string().min(1),
  /** Answers show the targeting. */
  showTargeting: z.boolean(),
  /** A search without Status lists archived campaigns, too. */
  listArchived: z.boolean(),
  /** How Name matches. */
  nameRule: z.enum(['exact', 'substring', 'case-fold']),
  /** Names are cut to this many characters; null: never. */
  nameLength: z.int().positive().nullable(),
  /** What Start means for the first row. */
  start: z.literal([1, 0, 'ignored']),
  /** Most rows of a page; a larger Num is cut to it. */
  pageSize: z.int().positive(),
  /** A larger Num is refused; null: none is. */
  largestNum: z.int().positive().nullable(),
  /** Rows come in another order each time. */
  unsorted: z.boolean(),
  fromCache: z.boolean().nullable(),
  /** Ms until listings show a new campaign. */
  listedAfterMs: z.int().nonnegative(),
  /** The targeting of an update replaces the whole, or only the criteria that it has. */
  targetingPut: z.enum(['replace', 'merge']),
  /** Bodies of errors: code and message, nothing, or a page of HTML. */
  errorBody: z.enum(['json', 'none', 'html']),
  /** Bytes; a longer body of a request is refused with 413. */
  largestBody: z.int().positive(),
}

const ALL = z.strictObject(SHAPE)
const SOME = z.array(ALL.partial()).length(1)

export type Knobs = z.infer<typeof ALL>

export const NEUTRAL_KNOBS: Readonly<Knobs> = {
  listField: 'campaigns',
  showTargeting: false,
  listArchived: true,
  nameRule: 'substring',
  nameLength: null,
  start: 1,
  pageSize: 100,
  largestNum: null,
  unsorted: false,
  fromCache: false,
  listedAfterMs: 0,
  targetingPut: 'replace',
  errorBody: 'json',
  largestBody: 1024 * 1024,
}

/** Those that an object in JSON has. */
export function readKnobs(json: string): Partial<Knobs> {
  const hint = 'docs/sandbox.md lists the knobs'
  const [knobs = {}] = readJson(json, SOME, { what: 'knobs', hint })
  return knobs as Partial<Knobs>
}
