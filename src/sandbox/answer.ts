// This file defines an answer, and the refusal that a handler throws to answer at once.

import type { Ending } from './fault-types.ts'

export interface Answer {
  status: number
  headers: Record<string, string>
  body: Buffer
  /** code is the error code that the journal records; null for a success. */
  code: string | null
  /** ending says how the connection ends. Default: `drain` if the body was not read to its end, else it stays open. */
  ending?: Ending | undefined
}

/** Refusal is thrown to answer at once, even if part of the body is unread. */
export class Refusal extends Error {
  readonly answer: Answer

  constructor(answer: Answer) {
    super(`refused: ${answer.code}`)
    this.answer = answer
  }
}

export interface RouteAnswer {
  /** status is 200 by default. */
  status?: number
  json: unknown
  /** key names the object that the answer is about; the journal records it. */
  key?: string
}

/** jsonAnswer makes an answer with a JSON body. `text` replaces the body; `code` is an error code. */
export function jsonAnswer(
  { status = 200, json }: RouteAnswer,
  text = JSON.stringify(json),
  code: string | null = null,
): Answer {
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  return { status, headers, body: Buffer.from(text), code }
}

export function refuse(status: number, code: string, message: string): never {
  throw new Refusal(jsonAnswer({ status, json: { code, message } }, undefined, code))
}
