// Reads the bodies of create and update strictly: what the specification does not document for a call is
// refused with 400, so that a client which sends it is found out.

import type { SandboxTargeting } from './campaign-types.ts'

export type CampaignFields = Partial<{
  name: string | null
  startDate: string | null
  endDate: string | null
  autoBidLevel: string | null
  cpc: number | null
  maxCpc: number | null
  paidCpaGoal: number | null
  budget: number | null
  period: number | null
  status: number | null
  targeting: Partial<SandboxTargeting> | null
}>

export type ReadBody = { fields: CampaignFields } | { wrong: string }

type Check = (value: unknown) => boolean

const text: Check = (value) => typeof value === 'string'
const number: Check = (value) => typeof value === 'number' && value >= 0
const texts: Check = (value) => Array.isArray(value) && value.every(text)
const dateTime: Check = (value) =>
  typeof value === 'string' &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value) &&
  !Number.isNaN(Date.parse(value))
const city: Check = (value) =>
  isObject(value) &&
  Object.keys(value).sort().join() === 'name,stateProvCode' &&
  Object.values(value).every(text)

const UPDATE: Record<string, Check> = {
  name: text,
  endDate: dateTime,
  autoBidLevel: (value) => value === '' || value === 'accelerated' || value === 'standard',
  cpc: number,
  maxCpc: number,
  paidCpaGoal: number,
  budget: number,
  status: (value) => value === 1 || value === 2 || value === 3,
  targeting: isObject,
}
const CREATE: Record<string, Check> = {
  ...UPDATE,
  startDate: dateTime,
  period: (value) => value === 1,
}
const TARGETING: Record<string, Check> = {
  cities: (value) => Array.isArray(value) && value.every(city),
  externalCampaignId: text,
  requisitionIds: texts,
  jobDescKeywords: texts,
  jobTitles: texts,
  postalCodes: texts,
  stateProvCodes: texts,
}

export function readBody(body: Buffer, call: 'create' | 'update'): ReadBody {
  let value: unknown
  try {
    value = JSON.parse(body.toString('utf8'))
  } catch {
    return { wrong: 'the body is not JSON' }
  }
  if (!isObject(value)) return { wrong: 'the body is not an object' }
  const wrong =
    firstWrong(value, call === 'create' ? CREATE : UPDATE, '') ??
    (isObject(value.targeting) ? firstWrong(value.targeting, TARGETING, 'targeting.') : null)
  if (wrong !== null) return { wrong }
  if (call === 'update' && value.status === null) return { wrong: '"status" must not be null' }
  const named = typeof value.name === 'string' && value.name.trim() !== ''
  if (call === 'create' && !named) return { wrong: '"name" is required' }
  return { fields: value as CampaignFields }
}

function firstWrong(
  value: Record<string, unknown>,
  checks: Record<string, Check>,
  prefix: string,
): string | null {
  for (const [name, content] of Object.entries(value)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined
    if (check === undefined) return `"${prefix}${name}" is not a field of this call`
    if (content !== null && !check(content)) return `"${prefix}${name}" has an unexpected value`
  }
  return null
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
