// The kinds of values in the campaigns file and in the options of create and update. All are text: YAML's failsafe
// schema keeps `NO`, `02139` and `1.50` as they are written. Each kind says in plain words what it expects.

import { z } from 'zod'
import { parseAmount } from './amount.ts'

/** TextType is a kind of text that becomes a value. */
export type TextType<T> = z.ZodType<T>

/** readAs reads a text as a type. It returns the value, or one sentence about the first problem of the text. */
export function readAs<T>(type: TextType<T>, given: string): { value: T } | { problem: string } {
  const { data, error } = type.safeParse(given)
  return error === undefined
    ? { value: data as T }
    : { problem: error.issues[0]?.message ?? 'cannot be read' }
}

const text = () => z.string('expected one value, not a block')

/**
 * patternType returns the type of a text that matches `pattern`. `read` returns the value of the text; null if it has
 * none, which is then reported as `expected`.
 */
const patternType = <T>(pattern: RegExp, expected: string, read: (text: string) => T | null) =>
  text()
    .regex(pattern, expected)
    .transform((given, context) => {
      const value = read(given)
      if (value !== null) return value
      context.issues.push({ code: 'custom', message: expected, input: given })
      return z.NEVER
    })

export const nonEmpty = () => text().regex(/\S/, 'must not be empty')

/** trimmed returns the type of a text that is not empty. It removes the spaces around the text. */
export const trimmed = () => nonEmpty().transform((given) => given.trim())

/** amount returns the type of money above zero with at most `decimals` decimals: two for budgets, four for bids. */
export const amount = (decimals: 2 | 4) =>
  patternType(
    decimals === 2 ? /^\d{1,9}(\.\d{1,2})?$/ : /^\d{1,9}(\.\d{1,4})?$/,
    'expected an amount above 0 such as "1500.00"',
    (given) => parseAmount(given, decimals),
  )

const dateAt = (second: string) =>
  patternType(
    /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?$/,
    'expected a date such as 2027-01-04 or 2027-01-04T00:00:00Z',
    (given) => {
      const value = given.includes('T') ? given : `${given}T${second}Z`
      const ms = Date.parse(value)
      // Date.parse reads February 30 as March 2.
      const isReal = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value.slice(0, 19))
      return isReal ? value : null
    },
  )

/**
 * firstSecond returns the type of a start. A date without a time means its first second in UTC, because the
 * specification names no time zone.
 */
export const firstSecond = () => dateAt('00:00:00')

/** lastSecond returns the type of an end. A date without a time means its last second in UTC. */
export const lastSecond = () => dateAt('23:59:59')

export const flag = () =>
  z.enum(['true', 'false'], 'expected true or false').transform((given) => given === 'true')

/** stateCode returns the type of a code of two letters (specification section 2, "Targeting object"). */
export const stateCode = () =>
  text().regex(/^\s*[A-Za-z]{2}\s*$/, 'expected a two-letter state or province code such as MA')

export const oneOf = <const T extends readonly [string, ...string[]]>(...words: T) =>
  z.enum(words, `expected ${words.join(' or ')}`)

/**
 * idOf returns the type of a campaign's id on the service. The id becomes one segment of a path, so it cannot be `.` or
 * `..`; `0` counts as no id.
 */
export const idOf = () =>
  patternType(/\S/, "expected the service's id of a campaign", (given) => {
    const id = given.trim()
    return ['', '.', '..', '0'].includes(id) ? null : id
  })

/** listOf refuses an empty list, which would select every posting but looks as if it selected none. */
export const listOf = <T extends z.ZodType>(item: T) =>
  z
    .array(item, 'expected a list')
    .min(1, 'the list is empty: leave it out, or name what it selects')

/**
 * block returns the type of an object with these keys only. `expected` is the message for a value that is not an
 * object; lib/yaml-problems.ts makes the messages for unknown and missing keys.
 */
export const block = <T extends z.core.$ZodLooseShape>(
  shape: T,
  expected = 'expected a block of keys',
) =>
  z.strictObject(shape, {
    error: ({ code, input }) =>
      code === 'invalid_type' && input !== undefined ? expected : undefined,
  })
