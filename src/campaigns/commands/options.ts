// The fields of a campaign as options of create and update, one to one with specification section 2.

import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import { messageOf } from '../../lib/errors.ts'
import { usageError } from '../../terminal/define.ts'
import { toWire } from '../amount.ts'
import { readTargetingText } from '../desired.ts'
import { FIELDS, STATUS } from '../fields.ts'
import { isUsableId } from '../service/campaign-answer.ts'
import type { CampaignCreate, CampaignUpdate, Targeting } from '../service/port.ts'
import {
  amount,
  firstSecond,
  lastSecond,
  nonEmpty,
  oneOf,
  readAs,
  type TextType,
} from '../text-types.ts'

/** NULL stands for null, which commander reads as an option without a value. */
const NULL = Symbol('null')

/** FieldOptions are the options as commander returns them. */
export type FieldOptions = Record<string, unknown>

/** parsed turns a type of text into a parser for commander. */
const parsed =
  <T>(type: TextType<T>, wire: (value: T) => unknown = (value) => value) =>
  (text: string) => {
    const read = readAs(type, text)
    if ('problem' in read) throw new InvalidArgumentError(`${read.problem}.`)
    return wire(read.value)
  }

export const statusOf = parsed(
  oneOf('running', 'archived', 'paused', '1', '2', '3'),
  (text) => STATUS[text as keyof typeof STATUS] ?? Number(text),
)

/** campaignId reads an id that is safe in a path: it cannot name another route of the service. */
export function campaignId(text: string): string {
  if (!isUsableId(text)) throw new InvalidArgumentError('expected the id of a campaign.')
  return text
}

const LARGEST_INT32 = 2 ** 31 - 1

/** wholeNumber reads an int32 that is not negative (specification section 4, Start and Num). */
export function wholeNumber(text: string): number {
  if (!/^\d{1,10}$/.test(text) || Number(text) > LARGEST_INT32)
    throw new InvalidArgumentError(`expected a whole number up to ${LARGEST_INT32}.`)
  return Number(text)
}

/** addFields adds the options of a call. With `update`, most of them also take `none`, which removes the value. */
export function addFields(command: Command, call: 'create' | 'update'): Command {
  const isUpdate = call === 'update'
  const orNone = isUpdate ? ', or none' : ''
  const add = (flags: string, text: string, read: (text: string) => unknown) =>
    command.option(flags, text + orNone, (given) =>
      isUpdate && given === 'none' ? NULL : read(given),
    )
  const money = parsed(amount(4), toWire)
  const end =
    'when it ends: yyyy-MM-ddThh:mm:ssZ, or yyyy-MM-dd for the last second of that day (UTC)'
  add('--end-date <date>', end, parsed(lastSecond()))
  add('--budget <amount>', 'the budget; for a monthly campaign, the budget of each month', money)
  const levels = oneOf('accelerated', 'standard')
  add('--auto-bid-level <level>', 'accelerated or standard', parsed(levels))
  add('--cpc <amount>', 'target cost per apply click', money)
  add('--max-cpc <amount>', 'the most that a click may cost', money)
  add('--paid-cpa-goal <amount>', 'target cost per application', money)
  command
    .option('--status <status>', 'running, archived or paused', statusOf)
    .option('--targeting <json>', 'the targeting as JSON, or @FILE', targetingOf)
    // The specification takes any text; a blank name could not be found again.
    .option('--name <name>', 'the name, exactly as given; not blank', parsed(nonEmpty()))
  if (isUpdate) return command
  const period = parsed(oneOf('once', 'monthly'), (text) => (text === 'monthly' ? 1 : NULL))
  return command
    .option('--start-date <date>', 'when it starts; default: at once', parsed(firstSecond()))
    .option('--period <period>', 'once or monthly', period)
}

/** bodyOf returns the fields that were given. Throws `FeedsyncError` (64) if the end is not after the start. */
export function bodyOf(options: FieldOptions): CampaignUpdate & Partial<CampaignCreate> {
  const { startDate, endDate } = options
  if (typeof endDate === 'string' && typeof startDate === 'string' && endDate <= startDate)
    throw usageError(
      `the campaign would end (${endDate}) before it starts (${startDate})`,
      'a start date without a time is the first second of the day, an end date the last second',
    )
  const given = [...FIELDS, 'targeting'].filter((field) => options[field] !== undefined)
  return Object.fromEntries(
    given.map((field) => [field, options[field] === NULL ? null : options[field]]),
  )
}

function targetingOf(text: string): Targeting {
  let value: unknown
  try {
    // A number would lose the leading zeros of a postal code.
    value = JSON.parse(
      text.startsWith('@') ? readFileSync(text.slice(1), 'utf8') : text,
      (key, one) => {
        if (typeof one === 'number') throw new Error(`${key}: expected text; put numbers in quotes`)
        return one
      },
    )
  } catch (error) {
    throw new InvalidArgumentError(`expected JSON: ${messageOf(error)}.`)
  }
  const read = readTargetingText(JSON.stringify(value))
  if (typeof read === 'string') throw new InvalidArgumentError(`${read}.`)
  return read
}
