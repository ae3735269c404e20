// Owns the fields of a campaign that the file can manage: how each is read from what the service shows,
// in whatever form, how it is sent, and which change of it can raise spending. Pure.

import { type Amount, fromWire, showAmount, toWire } from '../lib/amount.ts'
import { amount, date, oneOf, type Reader } from '../lib/text-fields.ts'
import type { Campaign } from '../service/port.ts'
import { STATUS } from './port.ts'
import { bareName } from './token.ts'

type Kind = 'amount' | 'date' | 'name' | 'word' | 'period' | 'status'

interface Spec {
  kind: Kind
  /** As the file says it. */
  read: Reader<Value>
  /** The file may say `none`: nothing there, as opposed to not managed. */
  mayBeNone?: true
}

const name: Reader<string> = (text) => {
  const value = words(text)
  if (value === '') return { problem: 'must not be empty' }
  // The token is recognised by this pattern; a name that has one already would be taken for ours.
  return /\[#/.test(value) ? { problem: 'must not hold "[#": it marks our token' } : { value }
}

/** As it is compared: however it is spaced and encoded. */
export const words = (text: string) => text.normalize('NFC').trim().replace(/\s+/g, ' ')

const bid: Spec = { kind: 'amount', read: amount(4), mayBeNone: true }

/** Specification section 4: the update takes all but `startDate` and `period`. */
const SPECS = {
  name: { kind: 'name', read: name },
  budget: { kind: 'amount', read: amount(2) },
  endDate: { kind: 'date', read: date, mayBeNone: true },
  startDate: { kind: 'date', read: date },
  period: { kind: 'period', read: oneOf('once', 'monthly') },
  autoBidLevel: { kind: 'word', read: oneOf('accelerated', 'standard'), mayBeNone: true },
  cpc: bid,
  maxCpc: bid,
  paidCpaGoal: bid,
  status: { kind: 'status', read: oneOf('running', 'paused') },
} as const satisfies Record<string, Spec>

export type Field = keyof typeof SPECS
export const FIELDS = Object.keys(SPECS) as readonly Field[]
export const isField = (name: string): name is Field => Object.hasOwn(SPECS, name)
export const isFixed = (field: Field) => field === 'startDate' || field === 'period'
const kindOf = (field: Field): Kind => SPECS[field].kind

export function readText(field: Field, text: string): ReturnType<Reader<Value>> {
  const spec: Spec = SPECS[field]
  return text === 'none' && spec.mayBeNone ? { value: null } : spec.read(text)
}

/** An amount, yyyy-MM-ddThh:mm:ssZ, a word, or null: none. */
export type Value = Amount | string | null
export type Values = Partial<Record<Field, Value>>

export type Spend = 'down' | 'neutral' | 'up' | 'unknown'
export const canRaise = (spend: Spend) => spend === 'up' || spend === 'unknown'

/** The strongest direction of several. */
export function overall(all: readonly Spend[]): Spend {
  const order: Spend[] = ['unknown', 'up', 'down', 'neutral']
  return order.find((spend) => all.includes(spend)) ?? 'neutral'
}

/** As it came, of whatever type; undefined: the service does not show it. */
export function rawOf(campaign: Campaign, field: Field | 'targeting'): unknown {
  if (field !== 'targeting' && campaign[field] !== undefined) return campaign[field]
  return Object.hasOwn(campaign.other, field) ? campaign.other[field] : undefined
}

/** undefined: not shown, or in no form that can be read. */
export function readValue(field: Field, raw: unknown): Value | undefined {
  if (raw === undefined) return undefined
  const kind = kindOf(field)
  if (raw === null) return kind === 'period' ? 'once' : kind === 'name' ? '' : null
  switch (kind) {
    case 'amount': {
      const isNumber =
        typeof raw === 'number' || (typeof raw === 'string' && /^\d+(\.\d+)?$/.test(raw.trim()))
      // Below zero it is a sign, such as -1 for "no limit", and no amount.
      return isNumber && Number.isFinite(Number(raw)) && Number(raw) >= 0
        ? fromWire(Number(raw))
        : undefined
    }
    case 'date':
      return typeof raw === 'string' ? dateOf(raw) : undefined
    case 'name':
      return typeof raw === 'string' ? words(raw) : undefined
    case 'word':
      return typeof raw === 'string' ? raw.trim().toLowerCase() : undefined
    case 'period':
      return String(raw) === '1' ? 'monthly' : String(raw)
    case 'status': {
      const isIts = ([word, n]: [string, number]) =>
        [word, String(n)].includes(String(raw).toLowerCase())
      return Object.entries(STATUS).find(isIts)?.[0] ?? String(raw)
    }
    default:
      return kind satisfies never
  }
}

/** Fields of a body as values; what cannot be read is left out. */
export function valuesOf(body: object): Values {
  const read = Object.entries(body).map(([name, raw]) => [
    name,
    isField(name) ? readValue(name, raw) : undefined,
  ])
  return Object.fromEntries(read.filter(([, value]) => value !== undefined))
}

/** What is known of a create by its body. */
export const createdValues = (body: object): Values => ({
  endDate: null,
  period: 'once',
  ...valuesOf(body),
})

/**
 * Without a zone it is UTC, whatever the zone of this process. To the second, and with a year of four digits, so that
 * texts compare like times; before 1970 it stands for "no date".
 */
function dateOf(text: string): string | undefined {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text)
  const isZoned = isDay || /(Z|GMT|UTC|[+-]\d\d:?\d\d)$/.test(text)
  const ms = Date.parse(isZoned ? text : `${text}Z`)
  if (Number.isNaN(ms) || ms <= 0) return undefined
  return `${new Date(Math.min(ms, LAST_SECOND)).toISOString().slice(0, 19)}Z`
}

const LAST_SECOND = Date.UTC(9999, 11, 31, 23, 59, 59)

/** Wall ms at which a campaign with this end is over in any zone, an end that still counts as a day included. */
export const endsBy = (endDate: string) => Date.parse(endDate) + 38 * 3_600_000

/** Why a campaign cannot spend now, as far as can be seen; null: it may. */
export function whyIdle(campaign: Campaign, now: number): 'archived' | 'paused' | 'over' | null {
  const status = readValue('status', rawOf(campaign, 'status'))
  if (status === 'archived' || status === 'paused') return status
  const end = readValue('endDate', rawOf(campaign, 'endDate'))
  return typeof end === 'string' && endsBy(end) < now ? 'over' : null
}

/**
 * Whether the service may show `sent` as `raw`: rounded, cut, in another zone or none. Only asked right
 * after a write, of the campaign that was written.
 */
export function isFormOf(field: Field, sent: Value, raw: unknown): boolean {
  const shown = readValue(field, raw)
  if (shown === undefined) return false
  if (shown === sent) return true
  if (sent === null || shown === null) return false
  const kind = kindOf(field)
  if (kind === 'amount') {
    const [a, b] = [toWire(Number(sent)), toWire(Number(shown))]
    const isRounded = [0, 1, 2, 3].some((digits) => {
      const unit = 10 ** digits
      return (
        [Math.floor(a * unit), Math.ceil(a * unit)].includes(Math.round(b * unit)) &&
        Math.abs(b * unit - Math.round(b * unit)) < 1e-6
      )
    })
    return isRounded && Math.abs(a - b) <= Math.max(0.05 * a, 0.005)
  }
  if (kind === 'date')
    return Math.abs(Date.parse(String(sent)) - Date.parse(String(shown))) <= 86_400_000
  if (kind === 'name')
    return String(shown).length > 0 && plain(String(sent)).startsWith(plain(String(shown)))
  return String(sent).toLowerCase() === String(shown).toLowerCase()
}

/** Letters and digits of a name, without case: what is left of it in any form. */
export const plain = (name: string) =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')

/** What is sent for a value. */
export function wireOf(field: Field, value: Value): unknown {
  if (value === null) return null
  const kind = kindOf(field)
  if (kind === 'amount') return toWire(Number(value))
  if (kind === 'status') return STATUS[value as keyof typeof STATUS]
  if (kind === 'period') return value === 'monthly' ? 1 : null
  return value
}

/** `before` undefined: not known. */
export function direction(field: Field, before: Value | undefined, after: Value): Spend {
  if (field === 'name') return 'neutral'
  if (before === after) return 'neutral'
  // Paused spends nothing, whatever it was before.
  if (before === undefined) return field === 'status' && after === 'paused' ? 'down' : 'unknown'
  switch (field) {
    case 'budget':
    case 'maxCpc':
    case 'endDate':
      // None there: nothing limits it.
      return after !== null && (before === null || after < before) ? 'down' : 'up'
    case 'cpc':
    case 'paidCpaGoal':
      if (before === null || after === null) return 'unknown'
      return after < before ? 'down' : 'up'
    case 'autoBidLevel':
      if (after === 'accelerated') return 'up'
      return after === 'standard' && before === 'accelerated' ? 'down' : 'unknown'
    case 'status':
      return after === 'running' ? 'up' : before === 'archived' ? 'unknown' : 'down'
    case 'startDate':
    case 'period':
      return 'unknown'
    default:
      return field satisfies never
  }
}

/** How the file says a value; null: it cannot, or the value is not known. */
export function fileText(field: Field, value: Value | undefined): string | null {
  if (value === undefined) return null
  const shown = field === 'name' ? bareName(String(value)) : showValue(field, value)
  const text = value === null ? 'none' : shown
  return 'value' in readText(field, text) ? text : null
}

export function showValue(field: Field, value: Value | undefined): string {
  if (value === undefined) return '(not known)'
  if (value === null) return field === 'endDate' ? 'no end' : 'none'
  if (kindOf(field) === 'amount') return showAmount(Number(value))
  return kindOf(field) === 'date' ? String(value).replace('T00:00:00Z', '') : String(value)
}
