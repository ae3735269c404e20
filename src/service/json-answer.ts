// Owns what the readings of the service's JSON answers have in common.

import type { HttpReply } from '../lib/http.ts'

/** Why a success cannot be used: a clause about its body, which repeats nothing of it but names. */
export class Unreadable extends Error {}

/** What `read` makes of the answer's body, or the `Unreadable` that it throws. */
export function readAnswer<T>(
  { body, bodyCut }: Pick<HttpReply, 'body' | 'bodyCut'>,
  read: (body: Buffer) => T,
): T | Unreadable {
  try {
    if (bodyCut) throw new Unreadable('a body that was cut off')
    return read(body)
  } catch (error) {
    if (error instanceof Unreadable) return error
    throw error
  }
}

/** Throws `Unreadable` for what is no JSON. */
export function parseBody(body: Buffer, parse: (text: string) => unknown): unknown {
  if (body.length === 0) throw new Unreadable('an empty body')
  try {
    return parse(body.toString('utf8').replace(/^\uFEFF/, ''))
  } catch {
    throw new Unreadable('a body that is not valid JSON')
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
