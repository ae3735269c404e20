// The kinds of values in the configuration. Each kind says in plain words what it expects. It refuses a wrong value and
// never corrects it, so that a person sees a mistake before it has an effect.

import { z } from 'zod'
import type { Listen } from '../lib/http-text.ts'
import { isLoopback } from '../lib/http-text.ts'
import {
  DURATION_EXPECTED,
  DURATION_PATTERN,
  parseDuration,
  parseSize,
  SIZE_EXPECTED,
  SIZE_PATTERN,
  writeDuration,
} from '../lib/units.ts'

// zod would compile each schema for later uses, but a command reads its configuration only once.
z.config({ jitless: true })

const TEXT_EXPECTED = 'expected text; put it in quotes'

/** matching is text that matches a pattern. `other` is the message for a value that is not text. */
export const matching = (pattern: RegExp, expected: string, other = expected) =>
  z.string(other).regex(pattern, expected)

/** text is not empty and has no control characters. */
export const text = () =>
  matching(/^[^\x00-\x1f\x7f]+$/, 'expected text on one line, not empty', TEXT_EXPECTED)

/** headerText is text for a header: visible ASCII, with spaces only inside. */
export const headerText = () => {
  const expected = 'expected plain ASCII text, as it is sent in a header'
  return matching(/^[!-~]([ -~]*[!-~])?$/, expected, TEXT_EXPECTED)
}

/** path is absolute, or relative to the folder of the configuration file. */
export const path = () =>
  matching(/^[^\x00-\x1f\x7f]+$/, 'expected a path on one line, not empty', 'expected a path')

/** address is an https address, or an http address of this machine, because requests contain credentials. */
export const address = () =>
  text().check((context) => {
    const problem = addressProblem(context.value)
    if (problem === null) return
    context.issues.push({ code: 'custom', message: problem, input: context.value })
  })

function addressProblem(value: string): string | null {
  const url = URL.parse(value)
  if (url === null || !/^https?:\/\//i.test(value)) {
    return 'expected an address such as https://api.example.com'
  }
  if (url.username !== '' || url.password !== '') {
    return 'must not hold a user name or a password'
  }
  return url.protocol === 'http:' && !isLoopback(url)
    ? 'must begin with https: (http: is for loopback)'
    : null
}

/** written is a text that `read` turns into a value. `read` returns the value, or a string that says what is wrong. */
const written = <T>(text: z.ZodString, read: (text: string) => T | string) =>
  text.transform((written, context) => {
    const value = read(written)
    if (typeof value !== 'string') return value
    context.issues.push({ code: 'custom', message: value, input: written })
    return z.NEVER
  })

/** duration reads a written duration as ms; `least` is the shortest duration, in ms. */
export const duration = (least = 0) =>
  written<number>(matching(DURATION_PATTERN, DURATION_EXPECTED), (text) => {
    const ms = parseDuration(text) ?? 'is too long'
    return typeof ms === 'number' && ms < least ? `must be at least ${writeDuration(least)}` : ms
  })

/** rate reads a size as bytes per second, and an empty text as no limit (null). */
export const rate = () => {
  const expected = `${SIZE_EXPECTED} a second, or "" for no limit`
  const pattern = new RegExp(`${SIZE_PATTERN.source}|^$`)
  return written<number | null>(matching(pattern, expected), (text) => {
    const bytes = text === '' ? null : (parseSize(text) ?? 'is too large')
    // At a lower rate, one TCP segment every few seconds would look like a stalled upload.
    return typeof bytes === 'number' && bytes < 1024 ? 'must be at least 1KiB' : bytes
  })
}

/**
 * listen reads `127.0.0.1:9464`, `[::1]:9464`, the path of a socket, which contains a slash, or an empty text for off
 * (null). It refuses a port alone: the file must name the address that is opened.
 */
export const listen = () => {
  const expected = 'expected host:port such as 127.0.0.1:9464, the path of a socket, or "" for off'
  return written<Listen | null>(z.string(expected), (text) => {
    if (text === '') return null
    if (/^[^\x00-\x1f\x7f]*\/[^\x00-\x1f\x7f]*[^/\x00-\x1f\x7f]$/.test(text))
      return { kind: 'unix', path: text }
    const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(text)
    const host = match?.[1] ?? match?.[2]
    const port = Number(match?.[3])
    return host === undefined || port > 65_535 ? expected : { kind: 'tcp', host, port }
  })
}

export const wholeNumber = (least: number, most = Number.MAX_SAFE_INTEGER) => {
  const expected =
    most === Number.MAX_SAFE_INTEGER
      ? `expected a whole number of at least ${least}`
      : `expected a whole number from ${least} to ${most}`
  return z.int(expected).min(least, expected).max(most, expected)
}

export const percent = () => {
  const expected = 'expected a number from 0 to 100, without a percent sign'
  return z.number(expected).min(0, expected).max(100, expected)
}

export const flag = () => z.boolean('expected true or false')

export const oneOf = <const T extends readonly [string, ...string[]]>(words: T) =>
  z.enum(words, `expected ${listing(words)}`)

export const list = <T extends z.ZodType>(item: T, expected: string) =>
  z.preprocess((value) => value ?? [], z.array(item, expected))

/** section is a block of keys. An empty block (all its lines commented out) has all defaults. */
export const section = <T extends z.core.$ZodLooseShape>(shape: T) =>
  z.preprocess((value) => value ?? {}, z.strictObject(shape, { error: wrongShape }))

/** optionalSection is a block that the file can omit, because all its keys have defaults. */
export const optionalSection = <T extends z.core.$ZodLooseShape>(description: string, shape: T) =>
  section(shape).prefault({}).describe(description)

/** wrongShape says nothing about unknown and missing keys: problems.ts has the words for them. */
const wrongShape: z.core.$ZodErrorMap = (issue) =>
  issue.code === 'invalid_type' && issue.input !== undefined
    ? 'expected keys with values, one on each line'
    : undefined

export function listing(words: readonly string[]): string {
  return words.length < 2
    ? words.join('')
    : `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`
}
