// The campaigns file: every key with one sentence for people. The JSON Schema and the manual page are made from it.

import { z } from 'zod'
import type { JsonSchema } from '../lib/yaml-problems.ts'
import { FIELD_TYPES } from './fields.ts'
import { amount, block, flag, idOf, listOf, oneOf, stateCode, trimmed } from './text-types.ts'

const CITY = block({
  name: trimmed().describe('Name of the city.'),
  stateProvCode: stateCode().describe('Two letters.'),
})

/** TARGETING is the type of an entry's `targeting`. */
export const TARGETING = block(
  {
    cities: listOf(CITY).exactOptional().describe('City and state pairs.'),
    stateProvCodes: listOf(stateCode())
      .exactOptional()
      .describe('State or province codes of two letters.'),
    postalCodes: listOf(trimmed()).exactOptional().describe('Postal codes.'),
    jobTitles: listOf(trimmed())
      .exactOptional()
      .describe('Titles, in upper or lower case. A singular word also matches its plural.'),
    jobDescKeywords: listOf(trimmed())
      .exactOptional()
      .describe('Words in the description, in upper or lower case.'),
    requisitionIds: listOf(trimmed())
      .exactOptional()
      .describe(
        'These ids add postings that the other lists leave out, so they need allowWiden: true.',
      ),
    externalCampaignId: trimmed()
      .exactOptional()
      .describe("Always the entry's own id: leave it out here."),
  },
  'expected a block of keys, or all',
)

/** ENTRY is the type of one entry of the campaigns file. */
export const ENTRY = block({
  externalCampaignId: trimmed().describe(
    'The key: the id of the campaign in your system and in your feeds. It is always part of the targeting.',
  ),
  ...FIELD_TYPES,
  campaignId: idOf()
    .optional()
    .describe("The service's id of an existing campaign. It binds the entry to this campaign."),
  allowWiden: flag().optional().describe('true: targeting may have requisitionIds.'),
  targeting: z
    .preprocess((given) => (given === 'all' ? {} : given), TARGETING)
    .optional()
    .describe(
      'Which postings are sponsored: all with the key, or those that also pass filters. It is managed as a whole: apply removes filters that are not named here. A posting must match every list, and matches a list if it has one of its values. A new campaign needs targeting.',
    ),
})

const SHAPE = {
  version: oneOf('1').describe('Version of this format.'),
  campaigns: z
    .array(ENTRY)
    .optional()
    .describe('How the campaigns should be. A field that you leave out is not managed.'),
  limits: block({
    maxBudget: amount(2).optional().describe('The largest budget of an entry, as decimal text.'),
    maxTotal: amount(2)
      .optional()
      .describe(
        'The largest sum of the budgets of all entries that are not paused. A monthly entry counts with the budget of one month.',
      ),
  })
    .optional()
    .describe('A larger budget, or a larger sum of budgets, is a mistake in the file.'),
}

/**
 * TOP is the type of the campaigns file, with entries of any shape. desired.ts parses each entry with ENTRY, so that a
 * mistake in one entry does not hide the mistakes in another.
 */
export const TOP = block(
  { ...SHAPE, campaigns: z.array(z.unknown(), 'expected a list').optional() },
  'this file names no campaign',
)

export type EntryInFile = z.output<typeof ENTRY>
export type LimitsInFile = NonNullable<z.output<typeof TOP>['limits']>

/** campaignsJsonSchema returns the JSON Schema of the file, as draft 7, which YAML editors support best. */
export function campaignsJsonSchema(): JsonSchema {
  const { $schema, ...schema } = z.toJSONSchema(block(SHAPE), {
    target: 'draft-7',
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === TARGETING)
        Object.assign(jsonSchema, { type: ['object', 'string'], pattern: '^all$' })
      if (jsonSchema.anyOf !== undefined) mergeNone(jsonSchema)
      if (jsonSchema.type === 'string') Object.assign(jsonSchema, anyScalar(jsonSchema.enum))
    },
  })
  const description = 'All values are text. Numbers, true and false need no quotes.'
  return { $schema, title: 'campaigns of feedsyncd', description, ...schema } as JsonSchema
}

/** mergeNone turns a union of `none` and a text into one text in place, for editors and the manual page. */
function mergeNone(jsonSchema: z.core.JSONSchema.BaseSchema): void {
  const [none, other] = jsonSchema.anyOf as [JsonSchema, JsonSchema]
  delete jsonSchema.anyOf
  const { enum: words, pattern } = other
  Object.assign(jsonSchema, { type: 'string' })
  if (Array.isArray(words)) Object.assign(jsonSchema, { enum: [...words, none.const] })
  else Object.assign(jsonSchema, { pattern: `^${none.const}$|${pattern}` })
}

/** anyScalar also allows numbers and booleans: an editor reads `12` as a number, and feedsyncd reads it as text. */
function anyScalar(words: readonly unknown[] | undefined): object {
  const type = ['string', 'number', 'boolean']
  const plain = (word: unknown) =>
    /^(\d+|true|false)$/.test(String(word)) ? [JSON.parse(String(word))] : []
  return words === undefined ? { type } : { type, enum: [...words, ...words.flatMap(plain)] }
}
