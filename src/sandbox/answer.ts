// What a request is answered with, and how it is refused at once.

import type { Ending } from './fault-types.ts'

export interface Answer {
  status: number
  headers: Record<string, string>
  body: Buffer
  /** For the journal. */
  code: string | null
  /** Default: `drain` where the body was not read to its end, else the connection is kept. */
  ending?: Ending | undefined
}

/** Thrown to answer at once, whatever of the body was not read. */
export class Refusal extends Error {
  readonly answer: Answer

  constructor(answer: Answer) {
    super(`refused: ${answer.code}`)
    this.answer = answer
  }
}

export interface RouteAnswer {
  /** Default 200. */
  status?: number
  json: unknown
  /** Key of the object that the answer is about, for the journal. */
  key?: string
}

/** `text`: in place of the JSON; `code`: of an error. */
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
