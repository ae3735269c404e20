// The fields of a campaign as options of create and update, one to one with specification section 2.

import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import { CRITERIA } from '../campaigns/targeting.ts'
import { messageOf } from '../lib/errors.ts'
import { date } from '../lib/text-fields.ts'
import type { CampaignCreate, CampaignUpdate, Targeting } from '../service/port.ts'

/** Stands for null, which commander takes for an option without a value. */
const NULL = Symbol('null')
type Null = typeof NULL

/** What commander makes of the options. */
export interface FieldOptions {
  name?: string
  startDate?: string
  endDate?: string | Null
  autoBidLevel?: string | Null
  cpc?: number | Null
  maxCpc?: number | Null
  paidCpaGoal?: number | Null
  budget?: number | Null
  period?: number | Null
  status?: number
  targeting?: Targeting
}

const NONE = 'none'
const STATUSES: Record<string, number> = { running: 1, archived: 2, paused: 3 }

export function addFields(command: Command, call: 'create' | 'update'): Command {
  const update = call === 'update'
  const orNone = update ? `, or ${NONE}` : ''
  const given = <T>(read: (text: string) => T) => (update ? unless(read) : read)
  command
    .option(
      '--end-date <date>',
      `last day, yyyy-MM-dd or yyyy-MM-ddThh:mm:ssZ${orNone}`,
      given(dateTime),
    )
    .option(
      '--budget <amount>',
      `the budget, of each month if it is monthly${orNone}`,
      given(amount),
    )
    .option('--auto-bid-level <level>', `accelerated or standard${orNone}`, given(bidLevel))
    .option('--cpc <amount>', `target cost per apply click${orNone}`, given(amount))
    .option('--max-cpc <amount>', `most that a click may cost${orNone}`, given(amount))
    .option('--paid-cpa-goal <amount>', `target cost per application${orNone}`, given(amount))
    .option('--status <status>', 'running, archived or paused', statusOf)
    .option('--targeting <json>', 'the targeting as JSON, or @FILE', targetingOf)
  if (update) return command.option('--name <name>', 'the name', nonEmpty)
  return command
    .requiredOption('--name <name>', 'the name', nonEmpty)
    .option('--start-date <date>', 'first day; default: at once', dateTime)
    .option('--period <period>', 'once or monthly', periodOf)
}

/** The documented fields of the call that were given. */
export function bodyOf(options: FieldOptions): CampaignUpdate & Partial<CampaignCreate> {
  const { name, startDate, endDate, autoBidLevel, cpc, maxCpc, paidCpaGoal } = options
  const { budget, period, status, targeting } = options
  const fields = { name, startDate, endDate, autoBidLevel, cpc, maxCpc, paidCpaGoal }
  const all = { ...fields, budget, period, status, targeting }
  return Object.fromEntries(
    Object.entries(all).flatMap(([field, value]) =>
      value === undefined ? [] : [[field, value === NULL ? null : value]],
    ),
  )
}

export function statusOf(text: string): number {
  const status = STATUSES[text] ?? (/^[123]$/.test(text) ? Number(text) : undefined)
  if (status === undefined) throw new InvalidArgumentError('expected running, archived or paused.')
  return status
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('expected a whole number.')
  return Number(text)
}

function unless<T>(read: (text: string) => T): (text: string) => T | Null {
  return (text) => (text === NONE ? NULL : read(text))
}

function nonEmpty(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('expected a name.')
  return text
}

function dateTime(text: string): string {
  const read = date(text)
  if ('problem' in read) throw new InvalidArgumentError(`${read.problem}.`)
  return read.value
}

function amount(text: string): number {
  if (!/^\d{1,9}(\.\d{1,4})?$/.test(text))
    throw new InvalidArgumentError('expected an amount such as 1500 or 0.75.')
  return Number(text)
}

function bidLevel(text: string): string {
  if (text !== 'accelerated' && text !== 'standard')
    throw new InvalidArgumentError('expected accelerated or standard.')
  return text
}

function periodOf(text: string): number | Null {
  if (text !== 'once' && text !== 'monthly')
    throw new InvalidArgumentError('expected once or monthly.')
  return text === 'monthly' ? 1 : NULL
}

function targetingOf(text: string): Targeting {
  let value: unknown
  try {
    value = JSON.parse(text.startsWith('@') ? readFileSync(text.slice(1), 'utf8') : text)
  } catch (error) {
    throw new InvalidArgumentError(`expected JSON: ${messageOf(error)}.`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidArgumentError('expected a JSON object.')
  for (const [key, content] of Object.entries(value)) {
    const problem = wrongCriterion(key, content)
    if (problem !== null) throw new InvalidArgumentError(`${key}: ${problem}.`)
  }
  return value as Targeting
}

function wrongCriterion(key: string, content: unknown): string | null {
  if (!CRITERIA.some((known) => known === key)) return `expected one of ${CRITERIA.join(', ')}`
  if (key === 'externalCampaignId')
    return typeof content === 'string' ? null : 'expected a string; quote it'
  if (!Array.isArray(content)) return 'expected a list'
  if (key !== 'cities')
    return content.every((item) => typeof item === 'string')
      ? null
      : 'expected strings; quote numbers'
  const isCity = (city: unknown) =>
    typeof city === 'object' &&
    city !== null &&
    Object.keys(city).sort().join() === 'name,stateProvCode' &&
    Object.values(city).every((item) => typeof item === 'string')
  return content.every(isCity) ? null : 'expected pairs of name and stateProvCode'
}
