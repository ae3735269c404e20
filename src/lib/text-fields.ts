// Reads single values that are written as text in a file or on a command line. Each kind of text has one reader, which
// returns the value or says what it expected.

import { parseAmount } from './amount.ts'

export type Read<T> = { value: T } | { problem: string }

export type Reader<T> = (text: string) => Read<T>

const fail = (problem: string) => ({ problem })

export const nonEmpty: Reader<string> = (text) =>
  text.trim() === '' ? fail('must not be empty') : { value: text.trim() }

/** amount reads money with at most two decimals, or four for the cost of a single click. */
export function amount(decimals: 2 | 4): Reader<number> {
  return (text) => {
    const value = parseAmount(text, decimals)
    return value === null ? fail('expected an amount above 0 such as "1500.00"') : { value }
  }
}

const dateAt =
  (second: string): Reader<string> =>
  (text) => {
    const value = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T${second}Z` : text
    const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value) ? Date.parse(value) : Number.NaN
    // Date.parse reads February 30 as March 2.
    return Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 19) !== value.slice(0, 19)
      ? fail('expected a date such as 2027-01-04 or 2027-01-04T00:00:00Z')
      : { value }
  }

/** firstSecond reads a start: a date without a time is its first second in UTC. The service specifies no zone. */
export const firstSecond = dateAt('00:00:00')

/** lastSecond reads an end: a date without a time means its last second in UTC. */
export const lastSecond = dateAt('23:59:59')

export const flag: Reader<boolean> = (text) =>
  text === 'true' || text === 'false' ? { value: text === 'true' } : fail('expected true or false')

/** stateCode reads two letters (specification section 2, "Targeting object"). */
export const stateCode: Reader<string> = (text) =>
  /^\s*[A-Za-z]{2}\s*$/.test(text)
    ? { value: text }
    : fail('expected a two-letter state or province code such as MA')

export function oneOf<T extends string>(...choices: readonly T[]): Reader<T> {
  return (text) => {
    const value = choices.find((choice) => choice === text)
    return value === undefined ? fail(`expected ${choices.join(' or ')}`) : { value }
  }
}
