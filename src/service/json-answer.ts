// Parts that all readers of the service's JSON answers use.

import type { HttpReply } from '../lib/http.ts'
import { shownMessage } from '../lib/secrets.ts'

/**
 * Unusable says why an answer with a success status cannot be used. Its message is a clause such as `an empty body`. It
 * repeats nothing from the body except names of lists.
 */
export class Unusable extends Error {}

/** readAnswer returns what `read` makes of the answer's body, or `Unusable` if the body is cut or `read` throws it. */
export function readAnswer<T>(
  { body, bodyCut }: Pick<HttpReply, 'body' | 'bodyCut'>,
  read: (body: Buffer) => T,
): T | Unusable {
  try {
    if (bodyCut) throw new Unusable('a body that was cut off')
    return read(body)
  } catch (error) {
    if (error instanceof Unusable) return error
    throw error
  }
}

/** parseBody parses a body as JSON. Throws `Unusable` if the body is empty or not JSON. */
export function parseBody(body: Buffer, parse: (text: string) => unknown): unknown {
  if (body.length === 0) throw new Unusable('an empty body')
  try {
    return parse(body.toString('utf8').replace(/^\uFEFF/, ''))
  } catch {
    throw new Unusable('a body that is not valid JSON')
  }
}

/** Possible names of the message, the most useful first: the specification shows no body of an error. */
const MESSAGE_NAMES = ['message', 'detail', 'error_description', 'error', 'errors', 'title']
/** A message can lie as deep as in `{"errors":[{"message":"…"}]}`, which has three levels. */
const DEEPEST_MESSAGE = 3

/** serviceMessage returns `: MESSAGE` from the JSON of a refusal, to follow `answered 400`; empty for other bodies. */
export function serviceMessage(reply: HttpReply): string {
  const said = readAnswer(reply, (body) => messageIn(parseBody(body, JSON.parse), DEEPEST_MESSAGE))
  const message = typeof said === 'string' ? shownMessage(said) : ''
  return message === '' ? '' : `: ${message}`
}

function messageIn(json: unknown, levels: number): string | null {
  if (levels === 0 || typeof json !== 'object' || json === null) return null
  const members = Object.entries(json)
  const named = Array.isArray(json)
    ? json.slice(0, 1)
    : MESSAGE_NAMES.flatMap((one) =>
        members.flatMap(([name, value]) => (name.toLowerCase() === one ? [value] : [])),
      )
  for (const value of named) {
    const said = typeof value === 'string' ? value : messageIn(value, levels - 1)
    if (said !== null) return said
  }
  return null
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
