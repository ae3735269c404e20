// This file reads JSON that clients send and people write. It is strict, and names the first problem with its place,
// what was expected, and what came instead.

import type { z } from 'zod'
import { EXIT, FeedsyncError, messageOf } from '../lib/errors.ts'
import { badRequest } from './http/answer.ts'

/** expecting makes a schema's error message, such as `expected 1, 2 or 3, got 4`. `what` is what the schema expects. */
export const expecting = (what: string) => (issue: { readonly input?: unknown }) =>
  `expected ${what}${gotText(issue.input)}`

/**
 * readJson reads JSON text by the schema of a list. A single item is read as a list of one. `what` names the items,
 * such as `faults`.
 * @throws FeedsyncError (64) if the text is not JSON or does not match the schema.
 */
export function readJson<T>(
  json: string,
  schema: z.ZodType<T>,
  { what, hint }: { what: string; hint: string },
): T {
  const wrong = (message: string) => new FeedsyncError(message, { hint, exitCode: EXIT.usage })
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    throw wrong(`the ${what} are not JSON: ${messageOf(error)}`)
  }
  const read = schema.safeParse(Array.isArray(value) ? value : [value], { error: issueMessage })
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw wrong(`${what}${placeOf(issue)}: ${issue?.message}`)
}

/** readBody reads the body of a request by a schema. It refuses a body that does not match with 400. */
export function readBody<T>(body: Buffer, schema: z.ZodType<T>): T {
  const read = schema.safeParse(jsonOf(body), { error: issueMessage })
  if (read.success) return read.data
  const [issue] = read.error.issues
  const place = placeOf(issue).replace(/^\./, '')
  return badRequest(`${place === '' ? 'the body' : place}: ${issue?.message}`)
}

/**
 * readBodyList reads the body of a request by the schema of a list. A single item is read as a list of one. `what`
 * names the items, such as `faults`. It refuses a body that does not match with 400.
 */
export function readBodyList<T>(body: Buffer, schema: z.ZodType<T>, what: string): T {
  const value = jsonOf(body)
  const read = schema.safeParse(Array.isArray(value) ? value : [value], { error: issueMessage })
  if (read.success) return read.data
  const [issue] = read.error.issues
  return badRequest(`${what}${placeOf(issue)}: ${issue?.message}`)
}

/** jsonOf parses a body. It refuses with 400 what is not UTF-8 or not JSON, and an object with the same name twice. */
function jsonOf(body: Buffer): unknown {
  const text = body.toString('utf8')
  const encodedAgain = Buffer.from(text)
  if (!encodedAgain.equals(body)) {
    const at = body.findIndex((byte, i) => byte !== encodedAgain[i])
    badRequest(`the body is not UTF-8: byte ${at + 1} is 0x${body[at]?.toString(16)}`)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    badRequest(`the body is not JSON: ${messageOf(error)}`)
  }
  const twice = repeatedName(text)
  if (twice !== null) badRequest(`the body has the name ${twice.name} twice: ${twice.place}`)
  return value
}

/** repeatedName finds the first name that an object in valid JSON has twice, and the place of its second use. */
function repeatedName(json: string): { name: string; place: string } | null {
  /** open has one item for each open object or list: the names of the object so far, or null for a list. */
  const open: (Set<string> | null)[] = []
  for (const { 0: token, index } of json.matchAll(/"(?:[^"\\]|\\.)*"(?:\s*:)?|[{}[\]]/g)) {
    const names = open.at(-1)
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(null)
    else if (token === '}' || token === ']') open.pop()
    else if (names && token.endsWith(':')) {
      const written = token.slice(0, token.lastIndexOf('"') + 1)
      const name = JSON.parse(written) as string
      if (names.has(name)) return { name: written, place: lineAndColumn(json, index) }
      names.add(name)
    }
  }
  return null
}

function lineAndColumn(text: string, index: number): string {
  const lines = text.slice(0, index).split('\n')
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`
}

function placeOf(issue: z.core.$ZodIssue | undefined): string {
  const unknownKey = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
  return [...(issue?.path ?? []), ...unknownKey]
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
}

/** TYPE_NAMES has words for those types of zod whose own name is not plain English. */
const TYPE_NAMES: Record<string, string> = {
  int: 'a whole number',
  record: 'an object',
  array: 'a list',
  tuple: 'a list',
}

function issueMessage(issue: z.core.$ZodRawIssue): string {
  const got = gotText(issue.input)
  switch (issue.code) {
    case 'unrecognized_keys':
      return 'unknown key'
    case 'invalid_value':
      return `expected one of ${issue.values.join(', ')}${got}`
    case 'custom':
      return String(issue.params?.expected)
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array'
        ? `expected a value that is not empty${got}`
        : `expected ${issue.minimum} or more${got}`
    case 'too_big':
      return `expected at most ${issue.maximum}${got}`
    case 'invalid_union':
      return `expected another value${got}`
    default: {
      const name = String(issue.expected ?? 'value')
      const article = /^[ao]/.test(name) ? 'an' : 'a'
      return `expected ${TYPE_NAMES[name] ?? `${article} ${name}`}${got}`
    }
  }
}

/** gotText returns the end of a message: what came, or that it is missing. Of a list or object it names the kind. */
function gotText(value: unknown): string {
  if (value === undefined) return ', but it is missing'
  if (typeof value === 'string') {
    const text = JSON.stringify(value.toWellFormed())
    return `, got the string ${text.length > 60 ? `${text.slice(0, 60)}…"` : text}`
  }
  if (Array.isArray(value)) return ', got a list'
  return typeof value === 'object' && value !== null ? ', got an object' : `, got ${String(value)}`
}
