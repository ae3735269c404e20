// This file defines an answer, how it is sent, and the refusal that a handler throws to answer at once.

/** Cut says how a connection ends: with FIN or with RST. */
export type Cut = 'fin' | 'rst'
/**
 * AnswerEnding says what follows an answer that is sent before the end of the request's body. `drain`: send FIN and
 * read on; `destroy`: close at once; `hold`: stop reading and stay open; `cut`: RST in the middle of the answer's body.
 */
export type AnswerEnding = 'drain' | 'destroy' | 'hold' | 'cut'

export interface Answer {
  status: number
  headers: Record<string, string>
  body: Buffer
  /** code is the error code that the journal records; null for a success. */
  code: string | null
  /** ending says how the connection ends. Default: `drain` if the body was not read to its end, else it stays open. */
  ending?: AnswerEnding | undefined
}

/** Delivery says how the bytes of an answer are sent, where it differs from the usual way. */
export interface Delivery {
  /** interim is the status of an interim answer before the final one. */
  interim?: number
  /** transfer changes how the body is sent. */
  transfer?: 'chunked' | 'gzip' | 'byte-by-byte'
  bytesPerSecond?: number
  /** close adds `Connection: close`. */
  close?: boolean
  /** idle announces `Keep-Alive: timeout=seconds`, and closes the idle connection after `closeAfterMs`. */
  idle?: { seconds: number; closeAfterMs: number; how: Cut }
  /** skewMs is added to the time of the header `Date`. */
  skewMs?: number
  withoutDate?: boolean
  ageSeconds?: number
}

/** Refusal is thrown to answer at once, even if part of the body is unread. */
export class Refusal extends Error {
  readonly answer: Answer

  constructor(answer: Answer) {
    super(`refused: ${answer.code}`)
    this.answer = answer
  }
}

/** jsonAnswer makes an answer with a JSON body. */
export function jsonAnswer(status: number, json: unknown, code: string | null = null): Answer {
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  return { status, headers, body: Buffer.from(JSON.stringify(json)), code }
}

/** refuse refuses with `{"code", "message"}`. */
export function refuse(status: number, code: string, message: string): never {
  throw new Refusal(jsonAnswer(status, { code, message }, code))
}

export function badRequest(message: string): never {
  return refuse(400, 'bad-request', message)
}

/** refusalAsAnswer returns a refusal as a normal answer, for a request that was read to its end. */
export async function refusalAsAnswer(answer: () => Answer | Promise<Answer>): Promise<Answer> {
  try {
    return await answer()
  } catch (error) {
    if (error instanceof Refusal) return error.answer
    throw error
  }
}

/**
 * fetchMethod returns the method as `Request` takes it. `Request` refuses CONNECT, TRACE and TRACK. No route has them,
 * so they become OPTIONS, which no route has either.
 */
export function fetchMethod(method: string): string {
  return /^(?:CONNECT|TRACE|TRACK)$/i.test(method) ? 'OPTIONS' : method
}
