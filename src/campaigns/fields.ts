// Owns the fields of a campaign that the file can manage: how each field is read from the file and from the service,
// how it is sent, and which changes can raise spending. Pure.

import { z } from 'zod'
import { type Amount, fromWire, showAmount, toWire } from './amount.ts'
import { nameWithoutMark } from './mark.ts'
import type { Campaign } from './service/port.ts'
import { amount, firstSecond, lastSecond, nonEmpty, oneOf } from './text-types.ts'

/** STATUS holds the status codes of specification section 3. */
export const STATUS = { running: 1, archived: 2, paused: 3 } as const

type FieldKind = 'amount' | 'date' | 'name' | 'word' | 'period' | 'status'

interface Spec {
  kind: FieldKind
  /** The type of the field's text in the file. */
  type: z.ZodType<Value, string>
  /** One sentence for people about the field. */
  is: string
  /** What the text `none` means to the service; absent if the file cannot remove the value from a campaign. */
  none?: string
}

const name = () =>
  nonEmpty()
    .transform(normalized)
    // feedsyncd could take a campaign with `[#` in its name for a campaign with our mark.
    .refine((value) => !value.includes('[#'), 'must not contain "[#", which begins our mark')

/** normalized returns a text as we compare it: in Unicode form NFC, with single spaces. */
export const normalized = (text: string) => text.normalize('NFC').trim().replace(/\s+/g, ' ')

/** SPECS has each field that the file can manage. An update can change all but two of them (see `isFixed`). */
const SPECS = {
  name: {
    kind: 'name',
    type: name(),
    is: 'The name on the service; a new campaign needs one. feedsyncd appends a mark, by which it finds the campaign again.',
  },
  budget: {
    kind: 'amount',
    type: amount(2),
    is: 'The budget. For a monthly campaign, the budget of each month.',
  },
  endDate: {
    kind: 'date',
    type: lastSecond(),
    is: 'When it ends. A date without a time is the last second of that day in UTC.',
    none: 'no end',
  },
  startDate: {
    kind: 'date',
    type: firstSecond(),
    is: 'When it starts. A date without a time is the first second of that day in UTC. Cannot be changed after creation.',
  },
  period: {
    kind: 'period',
    type: oneOf('once', 'monthly'),
    is: 'What the budget is for. Cannot be changed after creation.',
  },
  autoBidLevel: {
    kind: 'word',
    type: oneOf('accelerated', 'standard'),
    is: 'How the service sets bids.',
    none: 'the service takes accelerated, if there is no cpc',
  },
  cpc: {
    kind: 'amount',
    type: amount(4),
    is: 'The target cost of an apply click.',
    none: 'the service sets it for each market',
  },
  maxCpc: {
    kind: 'amount',
    type: amount(4),
    is: 'The most that an apply click may cost.',
    none: 'no limit',
  },
  paidCpaGoal: {
    kind: 'amount',
    type: amount(4),
    is: 'The target cost of an application.',
    none: 'no goal',
  },
  status: {
    kind: 'status',
    type: oneOf('running', 'paused'),
    is: 'If you leave it out, the status on the service stays.',
  },
} as const satisfies Record<string, Spec>

export type CampaignField = keyof typeof SPECS
export const FIELDS = Object.keys(SPECS) as readonly CampaignField[]
/** isFixed returns whether the service refuses to change a field after creation (specification section 4). */
export const isFixed = (field: CampaignField) => field === 'startDate' || field === 'period'
const kindOf = (field: CampaignField): FieldKind => SPECS[field].kind

/** FIELD_TYPES has the type of each field's text in the file. Every field is optional and has a description. */
export const FIELD_TYPES = Object.fromEntries(
  Object.entries(SPECS).map(([field, spec]) => [field, typeOf(spec).optional()]),
) as { [F in CampaignField]: z.ZodOptional<z.ZodType<Value, string>> }

function typeOf({ type, is, none }: Spec): z.ZodType<Value, string> {
  if (none === undefined) return type.describe(is)
  const orNone = z.union([z.literal('none').transform(() => null), type], {
    // Show the problem of the text, as if `none` were not allowed.
    error: ({ errors }) => (errors as { message: string }[][] | undefined)?.at(-1)?.[0]?.message,
  })
  return orNone.describe(`${is} none: ${none}.`)
}

/** isWritable returns whether the file can have this text for a field. */
export const isWritable = (field: CampaignField, text: string) =>
  FIELD_TYPES[field].safeParse(text).success

/**
 * Value is the value of a campaign's field: an amount, a date (yyyy-MM-ddThh:mm:ssZ), a word, or a name without our
 * mark. It is null if the campaign has no value for the field.
 */
export type Value = Amount | string | null
export type Values = Partial<Record<CampaignField, Value>>

/** Spend says how a change can affect spending. If the effect is not known, it is `up`. */
export type Spend = 'up' | 'down' | 'neutral'

/** combinedSpend returns the effect of several changes together. */
export const combinedSpend = (all: readonly Spend[]): Spend =>
  all.includes('up') ? 'up' : all.includes('down') ? 'down' : 'neutral'

/** rawOf returns a field as the service sent it, of any type; undefined if the service does not show it. */
export function rawOf(campaign: Campaign, field: CampaignField | 'targeting'): unknown {
  if (field !== 'targeting' && campaign[field] !== undefined) return campaign[field]
  return Object.hasOwn(campaign.other, field) ? campaign.other[field] : undefined
}

/**
 * shownValue returns the value that the service shows. It is undefined if the service does not show the field, or shows
 * it in a form that we cannot read. A field that the service shows as null is null, but a name is `''` and a period
 * `once`.
 */
export function shownValue(campaign: Campaign, field: CampaignField): Value | undefined {
  const raw = rawOf(campaign, field)
  if (raw === undefined) return undefined
  const kind = kindOf(field)
  if (raw === null) return kind === 'period' ? 'once' : kind === 'name' ? '' : null
  switch (kind) {
    case 'amount': {
      const isNumber =
        typeof raw === 'number' || (typeof raw === 'string' && /^\d+(\.\d+)?$/.test(raw.trim()))
      // A negative number is a code, such as -1 for "no limit", and not an amount.
      return isNumber && Number.isFinite(Number(raw)) && Number(raw) >= 0
        ? fromWire(Number(raw))
        : undefined
    }
    case 'date':
      return typeof raw === 'string' ? dateOf(raw.trim()) : undefined
    case 'name':
      return typeof raw === 'string' ? normalized(nameWithoutMark(raw)) : undefined
    case 'word':
      return typeof raw === 'string' ? raw.trim().toLowerCase() : undefined
    case 'period':
      return String(raw) === '1' ? 'monthly' : String(raw)
    case 'status': {
      const isMatch = ([word, n]: [string, number]) =>
        [word, String(n)].includes(String(raw).toLowerCase())
      return Object.entries(STATUS).find(isMatch)?.[0] ?? String(raw)
    }
    default:
      return kind satisfies never
  }
}

/** ISO matches ISO 8601 with its separators. In 12/02/2036, day and month could be read in two ways. */
const ISO = /^([+-]\d\d)?\d{4}-\d\d-(\d\d)([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/i

/**
 * dateOf reads a date in ISO 8601, as UTC if it names no zone. The result has whole seconds and a year of at most 9999,
 * so that two results compare as texts like the times. It is undefined if the text is not a date, or is a date before
 * 1970, by which a service can mean "no date".
 */
function dateOf(text: string): string | undefined {
  const [, , day, time, , , zone] = ISO.exec(text) ?? []
  if (day === undefined) return undefined
  const ms = Date.parse(time === undefined || zone !== undefined ? text : `${text}Z`)
  if (Number.isNaN(ms) || ms <= 0) return undefined
  // A day that the month does not have is read as a day of the next month.
  const date = Date.parse(text.replace(/[T ].*/i, ''))
  if (new Date(date).getUTCDate() !== Number(day)) return undefined
  return `${new Date(Math.min(ms, LAST_SECOND)).toISOString().slice(0, 19)}Z`
}

const LAST_SECOND = Date.UTC(9999, 11, 31, 23, 59, 59)

/** idleReason returns why a campaign cannot spend now; null if it can spend. `now` is wall ms. */
export function idleReason(campaign: Campaign, now: number): 'archived' | 'paused' | 'over' | null {
  const status = shownValue(campaign, 'status')
  if (status === 'archived' || status === 'paused') return status
  return isOver(campaign, now) ? 'over' : null
}

/** isLive returns whether a campaign is neither archived nor over, so that it spends or can be resumed. */
export const isLive = (campaign: Campaign, now: number) =>
  !isOver(campaign, now) && shownValue(campaign, 'status') !== 'archived'

function isOver(campaign: Campaign, now: number): boolean {
  const end = shownValue(campaign, 'endDate')
  return typeof end === 'string' && Date.parse(end) < now
}

/** wireOf returns a value in the form that a request to the service needs. */
export function wireOf(field: CampaignField, value: Value): unknown {
  if (value === null) return null
  const kind = kindOf(field)
  if (kind === 'amount') return toWire(Number(value))
  if (kind === 'status') return STATUS[value as keyof typeof STATUS]
  if (kind === 'period') return value === 'monthly' ? 1 : null
  return value
}

/** spendDirection returns how a change of a field can affect spending; `before` is undefined if it is not known. */
export function spendDirection(
  field: CampaignField,
  before: Value | undefined,
  after: Value,
): Spend {
  if (field === 'name' || before === after) return 'neutral'
  // A paused campaign spends nothing, so the earlier status does not matter.
  if (field === 'status') return after === 'running' ? 'up' : 'down'
  if (before === undefined) return 'up'
  switch (field) {
    case 'budget':
      // The specification does not say whether a campaign without a budget spends nothing or without a limit.
      return before !== null && after !== null && after < before ? 'down' : 'up'
    case 'maxCpc':
    case 'endDate':
      // Without an earlier value, nothing limits the campaign.
      return after !== null && (before === null || after < before) ? 'down' : 'up'
    case 'cpc':
    case 'paidCpaGoal':
      return before !== null && after !== null && after < before ? 'down' : 'up'
    case 'autoBidLevel':
      return after === 'standard' && before === 'accelerated' ? 'down' : 'up'
    case 'startDate':
    case 'period':
      return 'up'
    default:
      return field satisfies never
  }
}

/** valueText returns a value as the file writes it; `none` for null. */
export function valueText(field: CampaignField, value: Value): string {
  if (value === null) return 'none'
  if (kindOf(field) === 'amount') return showAmount(Number(value))
  if (field === 'startDate') return String(value).replace('T00:00:00Z', '')
  return field === 'endDate' ? String(value).replace('T23:59:59Z', '') : String(value)
}
