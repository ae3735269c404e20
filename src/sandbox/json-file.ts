// This file reads the JSON that people write for the sandbox. It is strict and names the first problem with its place.

import type { z } from 'zod'
import { EXIT, FeedsyncError, messageOf } from '../lib/errors.ts'

type Expectation = (issue: z.core.$ZodRawIssue) => string

/**
 * readJson reads a list, or one item, by a schema. `what` names the items, such as `faults`; `expectation` words a
 * problem.
 * @throws FeedsyncError (64)
 */
export function readJson<T>(
  json: string,
  schema: z.ZodType<T>,
  { what, hint, expectation = expected }: { what: string; hint: string; expectation?: Expectation },
): T {
  const wrong = (message: string) => new FeedsyncError(message, { hint, exitCode: EXIT.usage })
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    throw wrong(`the ${what} are not JSON: ${messageOf(error)}`)
  }
  const read = schema.safeParse(Array.isArray(value) ? value : [value], { error: expectation })
  if (read.success) return read.data
  const [issue] = read.error.issues
  const unknownKey = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
  const path = [...(issue?.path ?? []), ...unknownKey].map((step) =>
    typeof step === 'number' ? `[${step}]` : `.${String(step)}`,
  )
  throw wrong(`${what}${path.join('')}: ${issue?.message}`)
}

export function expected(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      return 'unknown key'
    case 'invalid_value':
      return `expected one of ${issue.values.join(', ')}`
    case 'custom':
      return String(issue.params?.expected)
    case 'too_small':
      return 'expected a value that is not empty'
    default:
      return `expected ${/^[ao]/.test(String(issue.expected)) ? 'an' : 'a'} ${issue.expected}`
  }
}
