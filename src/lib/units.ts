// The units that people write and read: durations (`15m`) and sizes (`64MiB`). A number without a unit is refused,
// because nobody can see whether it means ms or seconds.

import { DAY, HOUR, MINUTE, SECOND } from './clock.ts'

/** Largest first, so that `write` finds the largest unit that divides evenly. */
const DURATION_UNITS = [
  ['d', DAY],
  ['h', HOUR],
  ['m', MINUTE],
  ['s', SECOND],
  ['ms', 1],
] as const

const SIZE_UNITS = [
  ['TiB', 2 ** 40],
  ['GiB', 2 ** 30],
  ['MiB', 2 ** 20],
  ['KiB', 2 ** 10],
  ['B', 1],
] as const

type Units = readonly (readonly [unit: string, factor: number])[]

export const DURATION_PATTERN = /^\d+(ms|s|m|h|d)$/
export const SIZE_PATTERN = /^\d+(B|KiB|MiB|GiB|TiB)$/

export const DURATION_EXPECTED = 'expected a duration such as 30s or 15m'
export const SIZE_EXPECTED = 'expected a size such as 512KiB or 64MiB'

/** parseDuration reads `15m` as ms; null if the text is not a duration. */
export function parseDuration(text: string): number | null {
  return parse(text, DURATION_UNITS)
}

/** parseSize reads `64MiB` as bytes; null if the text is not a size. */
export function parseSize(text: string): number | null {
  return parse(text, SIZE_UNITS)
}

/** writeDuration writes what `parseDuration` reads back exactly: 900000 is `15m`, 1500 is `1500ms`. */
export function writeDuration(ms: number): string {
  return write(ms, DURATION_UNITS)
}

/** writeSize writes what `parseSize` reads back exactly. */
export function writeSize(bytes: number): string {
  return write(bytes, SIZE_UNITS)
}

/** formatDuration writes at most two units for people, whole seconds from 1 s on: `350ms`, `4s`, `2m 5s`, `400d`. */
export function formatDuration(ms: number): string {
  const sign = ms < 0 ? '-' : ''
  const rest = Math.abs(ms)
  if (rest < 999.5) return `${sign}${Math.round(rest)}ms`
  if (rest < MINUTE - SECOND / 2) return `${sign}${Math.round(rest / SECOND)}s`
  if (rest < HOUR - SECOND / 2) return sign + pair(rest, [MINUTE, 'm'], [SECOND, 's'])
  if (rest < DAY - MINUTE / 2) return sign + pair(rest, [HOUR, 'h'], [MINUTE, 'm'])
  return sign + pair(rest, [DAY, 'd'], [HOUR, 'h'])
}

/** relativeTime writes `3m 5s ago`, `just now`, `in 12s`, or `-` for null. `now` is wall ms. */
export function relativeTime(iso: string | null, now: number): string {
  if (iso === null) return '-'
  const ms = Date.parse(iso) - now
  if (ms > 0) return `in ${formatDuration(ms)}`
  return ms > -SECOND ? 'just now' : `${formatDuration(-ms)} ago`
}

/**
 * countOf writes a number with its commas: `1,000`, and with a noun `1,000 postings` or `1 posting`. The first call
 * loads 8 MB of ICU data, so the feed reader calls it only for warnings.
 */
export function countOf(count: number, noun?: string): string {
  const digits = count.toLocaleString('en-US')
  return noun === undefined ? digits : `${digits} ${noun}${count === 1 ? '' : 's'}`
}

/** groupedMoney writes decimal text with commas: `1,500.00`; `-` for null. */
export function groupedMoney(amount: string | null): string {
  if (amount === null) return '-'
  const [whole = '', cents] = amount.split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return cents === undefined ? grouped : `${grouped}.${cents}`
}

/** formatBytes writes `512 B`, `1.4 MiB` or `980 MiB` for people. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  // Show 1 of the next unit for a value that would round to 1024 of this one.
  const [unit, factor] = SIZE_UNITS.find(([, each]) => bytes >= each * 0.9995 && each > 1) ?? [
    'KiB',
    1024,
  ]
  const value = bytes / factor
  return `${value < 99.95 ? Number(value.toFixed(1)) : Math.round(value)} ${unit}`
}

/** Progress has the bytes of an upload that the network has taken, and the rate so far. */
export interface Progress {
  bytesSent: number
  bytesPerSecond: number
  /** Time to the end at this rate. */
  msLeft: number
}

/** formatProgress writes `50 %: 6 MiB of 12 MiB, 2 MiB/s, 3s left`. */
export function formatProgress(
  { bytesPerSecond, bytesSent, msLeft }: Progress,
  bytes: number,
): string {
  const percent = bytes === 0 ? 100 : Math.floor((100 * bytesSent) / bytes)
  const rate = formatBytes(Math.round(bytesPerSecond))
  return `${percent} %: ${formatBytes(bytesSent)} of ${formatBytes(bytes)}, ${rate}/s, ${formatDuration(msLeft)} left`
}

function parse(text: string, units: Units): number | null {
  const [, digits, unit] = /^(\d+)([A-Za-z]+)$/.exec(text) ?? []
  const factor = units.find(([name]) => name === unit)?.[1]
  const value = Number(digits) * (factor ?? Number.NaN)
  return Number.isSafeInteger(value) ? value : null
}

/** write uses the largest unit that divides the value evenly. Zero has the second smallest unit: `0s`, `0KiB`. */
function write(value: number, units: Units): string {
  if (value === 0) return `0${units.at(-2)?.[0] ?? ''}`
  const [unit, factor] = units.find(([, each]) => value % each === 0) ?? ['', 1]
  return `${value / factor}${unit}`
}

type TimeUnit = readonly [ms: number, unit: string]

function pair(ms: number, [large, largeUnit]: TimeUnit, [small, smallUnit]: TimeUnit) {
  const count = Math.round(ms / small)
  const per = large / small
  const rest = count % per
  const whole = `${Math.floor(count / per)}${largeUnit}`
  return rest === 0 ? whole : `${whole} ${rest}${smallUnit}`
}
