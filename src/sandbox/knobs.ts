// A knob is a setting for a question that the specification leaves open.

import { z } from 'zod'
import { readJson } from './json-input.ts'

const SHAPE = {
  /** listField is the name of the list in the answer of a search. */
  listField: z.string().min(1),
  /** showTargeting adds the targeting of a campaign to answers. */
  showTargeting: z.boolean(),
  /** listArchived makes a search without Status list archived campaigns, too. */
  listArchived: z.boolean(),
  /** nameRule says when the parameter Name of a search matches the name of a campaign. */
  nameRule: z.enum(['exact', 'substring', 'case-fold']),
  /** nameLength is the number of characters to which the names of campaigns are cut; null cuts no name. */
  nameLength: z.int().positive().nullable(),
  /** start is the Start of the first row of a search. With `ignored`, the parameter Start has no effect. */
  start: z.literal([1, 0, 'ignored']),
  /** pageSize is the most rows of a page. A search with a larger Num gets a page of this size. */
  pageSize: z.int().positive(),
  /** largestNum is the largest Num that a search may have: a larger Num is refused with 400. Null sets no limit. */
  largestNum: z.int().positive().nullable(),
  /** unsorted makes each search list its rows in another order. */
  unsorted: z.boolean(),
  /** fromCache is the value of the field `fromCache` in the answer of a search. */
  fromCache: z.boolean().nullable(),
  /** listedAfterMs is the time in ms until searches show a new campaign. */
  listedAfterMs: z.int().nonnegative(),
  /** targetingPut says whether the targeting of an update replaces all criteria, or with `merge` only its own. */
  targetingPut: z.enum(['replace', 'merge']),
  /** accountKeeps says whether an account has the postings of its last object, or of all its objects, each id once. */
  accountKeeps: z.enum(['last', 'all']),
  /** errorBody is the body of errors: code and message as JSON, nothing, or a page of HTML. */
  errorBody: z.enum(['json', 'none', 'html']),
  /** largestBody is the most bytes of a body. The service refuses a request with a longer body with 413. */
  largestBody: z.int().positive(),
}

const ALL = z.strictObject(SHAPE)
export const SOME_KNOBS = ALL.partial()
const SOME = z.array(SOME_KNOBS).length(1)

export type Knobs = z.infer<typeof ALL>

/** NEUTRAL_KNOBS are the knobs of a sandbox that nobody has configured. */
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

/**
 * readKnobs reads an object of knobs from JSON text.
 * @throws FeedsyncError (64) if the text is not JSON or has a wrong knob.
 */
export function readKnobs(json: string): Partial<Knobs> {
  const hint = 'docs/sandbox.md lists the knobs'
  const [knobs = {}] = readJson(json, SOME, { what: 'knobs', hint })
  return knobs as Partial<Knobs>
}
