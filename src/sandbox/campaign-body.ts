// This file reads the bodies of create and update. It refuses with 400 any field that the specification does not
// document for the call, so that a test finds a client that sends it.

import { z } from 'zod'
import { refuse } from './answer.ts'

const text = z.string()
const amount = z.number().nonnegative().nullish()
/** dateTime is `yyyy-MM-ddThh:mm:ssZ`, as in the specification: no fraction of a second and no offset. */
const dateTime = z.iso.datetime({ precision: 0 }).nullish()
const status = z.int().min(1).max(3)
const list = <T extends z.ZodType>(item: T) =>
  z
    .array(item)
    .nullable()
    .transform((items) => items ?? [])

const TARGETING = z.strictObject({
  cities: list(z.strictObject({ name: text, stateProvCode: text })),
  externalCampaignId: text.nullable(),
  requisitionIds: list(text),
  jobDescKeywords: list(text),
  jobTitles: list(text),
  postalCodes: list(text),
  stateProvCodes: list(text),
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
  period: z.literal(1).nullish(),
  status: status.nullish(),
})

export type SandboxTargeting = z.infer<typeof TARGETING>
export type PartialTargeting = NonNullable<UpdateFields['targeting']>
export type CreateFields = z.infer<typeof CREATE>
export type UpdateFields = z.infer<typeof UPDATE>

export const readCreate = (body: Buffer) => read(body, CREATE)
export const readUpdate = (body: Buffer) => read(body, UPDATE)

function read<T>(body: Buffer, schema: z.ZodType<T>): T {
  let value: unknown
  try {
    value = JSON.parse(body.toString('utf8'))
  } catch {
    badRequest('the body is not JSON')
  }
  const { data, error } = schema.safeParse(value)
  const issue = error?.issues[0]
  if (issue === undefined) return data as T
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
  const names = [...issue.path, ...unknown].filter((step) => typeof step === 'string')
  const field = names.slice(0, 2).join('.')
  if (field === '') badRequest('the body is not an object')
  if (unknown.length > 0) badRequest(`"${field}" is not a field of this call`)
  return badRequest(`"${field}" is missing or has an unexpected value`)
}

export function badRequest(message: string): never {
  return refuse(400, 'bad-request', message)
}
