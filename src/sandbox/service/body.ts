// This file reads the bodies of create and update (specification sections 2 and 4). It refuses with 400 any field that
// the specification does not document for the call, so that a test finds a client that sends it.

import { z } from 'zod'
import { expecting, readBody } from '../json-input.ts'

/** text is any string without a lone surrogate, which is not valid Unicode and which databases do not keep. */
const text = z
  .string()
  .refine((value) => value.isWellFormed(), { error: expecting('text without a lone surrogate') })
const word = text.refine((value) => value.trim() !== '', {
  error: expecting('text that is not blank'),
})
const amount = z
  .number()
  .nonnegative({ error: expecting('an amount of 0 or more') })
  .nullish()
/** dateTime is `yyyy-MM-ddThh:mm:ssZ`, as in the specification: no fraction of a second and no offset. */
const dateTime = z.iso
  .datetime({ precision: 0, error: expecting('a date-time yyyy-MM-ddThh:mm:ssZ') })
  .nullish()
const status = z.literal([1, 2, 3], { error: expecting('1, 2 or 3') })
const stateCode = z.string().regex(/^[A-Za-z]{2}$/, {
  error: expecting('a state code of two letters, such as MA'),
})
/** list reads null as an empty list. */
const list = <T extends z.ZodType>(item: T) =>
  z
    .array(item)
    .nullable()
    .transform((items) => items ?? [])

const TARGETING = z.strictObject({
  cities: list(z.strictObject({ name: word, stateProvCode: stateCode })),
  externalCampaignId: text.nullable(),
  requisitionIds: list(word),
  jobDescKeywords: list(word),
  jobTitles: list(word),
  postalCodes: list(word),
  stateProvCodes: list(stateCode),
})

const UPDATE = z.strictObject({
  name: text.nullish(),
  endDate: dateTime,
  autoBidLevel: z.enum(['', 'accelerated', 'standard']).nullish(),
  cpc: amount,
  maxCpc: amount,
  paidCpaGoal: amount,
  budget: amount,
  status: status.optional(),
  targeting: TARGETING.partial().nullish(),
})

const CREATE = UPDATE.extend({
  name: text,
  startDate: dateTime,
  period: z.literal(1, { error: expecting('1 or null') }).nullish(),
  status: status.nullish(),
})

/** OUTCOME is what a campaign has brought so far. No client can set it, but a control route can. */
const OUTCOME = z.strictObject({
  spend: z
    .number()
    .nonnegative({ error: expecting('an amount of 0 or more') })
    .optional(),
  leads: z
    .int32()
    .nonnegative({ error: expecting('a whole number from 0 to 2147483647') })
    .optional(),
})

export type SandboxTargeting = z.infer<typeof TARGETING>
export type PartialTargeting = NonNullable<UpdateFields['targeting']>
export type CreateFields = z.infer<typeof CREATE>
export type UpdateFields = z.infer<typeof UPDATE>
export type Outcome = z.infer<typeof OUTCOME>

export const readCreate = (body: Buffer) => readBody(body, CREATE)
export const readUpdate = (body: Buffer) => readBody(body, UPDATE)
export const readOutcome = (body: Buffer) => readBody(body, OUTCOME)
