// Dates in file names: exports such as jobs-2026-11-22.xml are versions of one feed, in the order of their dates. Pure.

import { DAY as DAY_MS } from '../lib/clock.ts'
import { withoutStamp } from './stamped-name.ts'

export const DATE = '{date}'
const MONTHS = [
  ...['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september'],
  ...['october', 'november', 'december'],
]
/** MONTH is the pattern of a month's name, for a regular expression that ignores case. */
export const MONTH = `(?:${MONTHS.map((name) => `${name}|${name.slice(0, 3)}`).join('|')}|sept)`
const YEAR = '20\\d\\d'
/**
 * The ways to write a day in which it is certain which number is the year, the month and the day. DD-MM and MM-DD are
 * not among them: nobody can tell one from the other, or from a running number.
 */
const WAYS = [
  // 20261122, 2026-11-22, 2026_11_22
  new RegExp(`(?<!\\d)(?<year>${YEAR})([-_]?)(?<month>\\d\\d)\\2(?<day>\\d\\d)(?!\\d)`, 'g'),
  // 22.11.2026
  new RegExp(`(?<![\\d.])(?<day>\\d\\d)\\.(?<month>\\d\\d)\\.(?<year>${YEAR})(?!\\d)`, 'g'),
  // 22-Nov-2026, 22 November 2026, 22Nov2026
  new RegExp(`(?<!\\d)(?<day>\\d\\d?)([-_ .]?)(?<month>${MONTH})\\2(?<year>${YEAR})(?!\\d)`, 'gi'),
  // Nov-22-2026, November 22 2026
  new RegExp(
    `(?<![a-z])(?<month>${MONTH})([-_ .]?)(?<day>\\d\\d?)\\2(?<year>${YEAR})(?!\\d)`,
    'gi',
  ),
  // 2026-Nov-22, 2026Nov22
  new RegExp(`(?<!\\d)(?<year>${YEAR})([-_ .]?)(?<month>${MONTH})\\2(?<day>\\d\\d?)(?!\\d)`, 'gi'),
]
/** The time that can follow a date. */
const TIME = /^[T_-]([01]\d|2[0-3])(?:([0-5]\d)([0-5]\d)?|-([0-5]\d)(?:-([0-5]\d))?)(?!\d)/

interface Day {
  index: number
  length: number
  /** `YYYYMMDD` */
  text: string
}

/**
 * datedName returns `path` with `{date}` in place of the last date in its file name, and the date as `YYYYMMDDHHMMSS`.
 * Without a date in the file name, the path stays as it is, and the date is null.
 */
export function datedName(path: string): { name: string; date: string | null } {
  const start = path.lastIndexOf('/') + 1
  const file = path.slice(start)
  const last = WAYS.flatMap((way) => daysIn(file, way))
    .toSorted((a, b) => a.index - b.index)
    .at(-1)
  if (last === undefined) return { name: path, date: null }
  const rest = file.slice(last.index + last.length)
  const [time = '', hour = '', ...parts] = TIME.exec(rest) ?? []
  return {
    name: path.slice(0, start) + file.slice(0, last.index) + DATE + rest.slice(time.length),
    date: (last.text + hour + parts.join('')).padEnd(14, '0'),
  }
}

/** daysIn returns the days that a file name has in one of WAYS, without days that do not exist, such as 2026-02-30. */
function daysIn(file: string, way: RegExp): Day[] {
  return [...file.matchAll(way)].flatMap(({ 0: whole, groups = {}, index }) => {
    const { day = '', month = '', year = '' } = groups
    const number = monthNumber(month)
    const date = new Date(Date.UTC(Number(year), number - 1, Number(day)))
    const isReal = date.getUTCMonth() === number - 1 && date.getUTCDate() === Number(day)
    const text = `${year}${String(number).padStart(2, '0')}${day.padStart(2, '0')}`
    return isReal ? [{ index, length: whole.length, text }] : []
  })
}

/** monthNumber returns 11 for `11`, `Nov` and `november`. */
function monthNumber(month: string): number {
  if (/\d/.test(month)) return Number(month)
  return MONTHS.findIndex((name) => name.startsWith(month.toLowerCase().slice(0, 3))) + 1
}

/** A date that is further ahead of the current time than this is a number that only looks like a date. */
const FAR_AHEAD_MS = 366 * DAY_MS

/** A clock before this moment (wall ms) is wrong, because feedsyncd did not exist then. */
const FIRST_DAY = Date.UTC(2026, 10, 1)

/**
 * orderDate returns the date in the name of a file as `YYYYMMDDHHMMSS`, or null if the name has no date. A date more
 * than a year ahead of `now` (wall ms) does not count, unless the clock is wrong.
 */
export function orderDate(path: string, now: number): string | null {
  const { date } = datedName(withoutStamp(path))
  if (date === null || now < FIRST_DAY) return date
  return date <= stampOf(now + FAR_AHEAD_MS) ? date : null
}

function stampOf(at: number): string {
  return new Date(at).toISOString().replace(/\D/g, '').slice(0, 14)
}
