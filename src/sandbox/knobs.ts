// A knob is a setting for a question that the specification leaves open.

import { z } from 'zod'
import { readJson } from './json-input.ts'

const SHAPE = {
  /** listField is the name of the list in the answer of a search. */
  listField: z.string().min(1),
  /** showTargeting adds the targeting to answers. */
  showTargeting: z.boolean(),
  /** listArchived makes a search without Status list archived campaigns, too. */
  listArchived: z.boolean(),
  /** nameRule says how Name matches. */
  nameRule: z.enum(['exact', 'substring', 'case-fold']),
  /** nameLength cuts names to this many characters; null means never. */
  nameLength: z.int().positive().nullable(),
  /** start is the number of the first row; `ignored`: Start has no effect. */
  start: z.literal([1, 0, 'ignored']),
  /** pageSize is the most rows of a page; a larger Num gives a page of this size. */
  pageSize: z.int().positive(),
  /** largestNum refuses a larger Num; null means no limit. */
  largestNum: z.int().positive().nullable(),
  /** unsorted lists the rows in another order each time. */
  unsorted: z.boolean(),
  /** fromCache is the value of this field in the answer of a search. */
  fromCache: z.boolean().nullable(),
  /** listedAfterMs is the time until searches show a new campaign. */
  listedAfterMs: z.int().nonnegative(),
  /** targetingPut: the targeting of an update replaces all criteria, or only the given ones (`merge`). */
  targetingPut: z.enum(['replace', 'merge']),
  /** accountKeeps: only the last object of an account has postings, or all, joined by the ids of the postings. */
  accountKeeps: z.enum(['last', 'all']),
  /** errorBody is the body of errors: code and message as JSON, nothing, or a page of HTML. */
  errorBody: z.enum(['json', 'none', 'html']),
  /** largestBody is in bytes; a request with a longer body is refused with 413. */
  largestBody: z.int().positive(),
}

const ALL = z.strictObject(SHAPE)
export const SOME_KNOBS = ALL.partial()
const SOME = z.array(SOME_KNOBS).length(1)

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
  accountKeeps: 'last',
  errorBody: 'json',
  largestBody: 1024 * 1024,
}

/** readKnobs reads an object of knobs. */
export function readKnobs(json: string): Partial<Knobs> {
  const hint = 'docs/sandbox.md lists the knobs'
  const [knobs = {}] = readJson(json, SOME, { what: 'knobs', hint })
  return knobs as Partial<Knobs>
}
