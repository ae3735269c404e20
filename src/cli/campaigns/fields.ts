// The fields of a campaign as options of create and update, one to one with specification section 2.

import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import { CRITERIA } from '../../campaigns/targeting.ts'
import { FeedsyncError, messageOf } from '../../lib/errors.ts'
import { date, stateCode } from '../../lib/text-fields.ts'
import { isUsableId } from '../../service/campaign-answer.ts'
import type { CampaignCreate, CampaignUpdate, Targeting } from '../../service/port.ts'
import { EXIT } from '../exit-codes.ts'

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
/** The specification takes any text; nobody could find a blank one again. */
const NAME = 'the name; not blank'
const STATUSES: Record<string, number> = { running: 1, archived: 2, paused: 3 }

export function addFields(command: Command, call: 'create' | 'update'): Command {
  const update = call === 'update'
  const orNone = update ? `, or ${NONE}` : ''
  const given = <T>(read: (text: string) => T) => (update ? unless(read) : read)
  command
    .option(
      '--end-date <date>',
      `when it ends: yyyy-MM-ddThh:mm:ssZ, or yyyy-MM-dd for the first second of that day (UTC)${orNone}`,
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
  if (update) return command.option('--name <name>', NAME, nonEmpty)
  return command
    .option('--name <name>', NAME, nonEmpty)
    .option('--start-date <date>', 'when it starts, written as the end; default: at once', dateTime)
    .option('--period <period>', 'once or monthly', periodOf)
}

/**
 * The documented fields of the call that were given.
 * @throws FeedsyncError (64) for an end that is not after the start.
 */
export function bodyOf(options: FieldOptions): CampaignUpdate & Partial<CampaignCreate> {
  const { name, startDate, endDate, autoBidLevel, cpc, maxCpc, paidCpaGoal } = options
  const { budget, period, status, targeting } = options
  const fields = { name, startDate, endDate, autoBidLevel, cpc, maxCpc, paidCpaGoal }
  if (typeof endDate === 'string' && startDate !== undefined && endDate <= startDate)
    throw new FeedsyncError(`the campaign would end (${endDate}) before it starts (${startDate})`, {
      hint: 'a date alone is the first second of that day: end on the day after the last one',
      exitCode: EXIT.usage,
    })
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

/** An id that names no other route of the service. */
export function campaignId(text: string): string {
  if (!isUsableId(text)) throw new InvalidArgumentError('expected the id of a campaign.')
  return text
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
  if (key !== 'cities' && !content.every((item) => typeof item === 'string'))
    return 'expected strings; quote numbers'
  if (key === 'stateProvCodes') return wrongStateCode(content)
  if (key !== 'cities') return null
  const isCity = (city: unknown) =>
    typeof city === 'object' &&
    city !== null &&
    Object.keys(city).sort().join() === 'name,stateProvCode' &&
    Object.values(city).every((item) => typeof item === 'string')
  if (!content.every(isCity)) return 'expected pairs of name and stateProvCode'
  return wrongStateCode(content.map(({ stateProvCode }) => stateProvCode))
}

function wrongStateCode(codes: readonly string[]): string | null {
  const wrong = codes.map(stateCode).find((read) => 'problem' in read)
  return wrong !== undefined && 'problem' in wrong ? wrong.problem : null
}
