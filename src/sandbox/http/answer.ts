// This file defines an answer, how it is sent, and the refusal that a handler throws to answer at once.

/** Cut says how a connection ends: with FIN or with RST. */
export type Cut = 'fin' | 'rst'
/**
 * AnswerEnding says what the sandbox does after an answer that it sends before the end of the request's body. With
 * `drain` (the default) it sends FIN and reads on. With `destroy` it closes at once. With `hold` it stops reading and
 * leaves the connection open. With `cut` it sends half of the answer's body and an RST.
 */
export type AnswerEnding = 'drain' | 'destroy' | 'hold' | 'cut'

export interface Answer {
  status: number
  headers: Record<string, string>
  body: Buffer
  /** code is the error code that the journal records; null for a success. */
  code: string | null
  /** ending says how the connection ends. Without it, the connection stays open if the request was read to its end. */
  ending?: AnswerEnding | undefined
}

/** Delivery says how the bytes of an answer are sent, where it differs from the usual way. */
export interface Delivery {
  /** interim is the status of an interim answer before the final one. */
  interim?: number
  /** transfer changes how the body is sent. */
  transfer?: 'chunked' | 'gzip' | 'byte-by-byte'
  bytesPerSecond?: number
  /** close adds the header `Connection: close`. */
  close?: boolean
  /** idle adds the header `Keep-Alive: timeout=seconds`, and closes the connection `closeAfterMs` after the answer. */
  idle?: { seconds: number; closeAfterMs: number; how: Cut }
  /** skewMs is added to the time of the header `Date`. */
  skewMs?: number
  withoutDate?: boolean
  ageSeconds?: number
}

/** Refusal is an error that a handler throws to answer at once, even if part of the body is unread. */
export class Refusal extends Error {
  readonly answer: Answer

  constructor(answer: Answer) {
    super(`refused: ${answer.code}`)
    this.answer = answer
  }
}

/** jsonAnswer makes an answer with a JSON body. `code` is an error code; null means a success. */
export function jsonAnswer(status: number, json: unknown, code: string | null = null): Answer {
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  return { status, headers, body: Buffer.from(JSON.stringify(json)), code }
}

/** refuse throws a Refusal with the body `{"code", "message"}`. */
export function refuse(status: number, code: string, message: string): never {
  throw new Refusal(jsonAnswer(status, { code, message }, code))
}

/** badRequest throws a Refusal with 400 and the code `bad-request`. */
export function badRequest(message: string): never {
  return refuse(400, 'bad-request', message)
}

/** refusalAsAnswer returns the answer of `work`, or the answer of the Refusal that `work` throws. */
export async function refusalAsAnswer(work: () => Answer | Promise<Answer>): Promise<Answer> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal) return error.answer
    throw error
  }
}

/**
 * fetchMethod returns a method that the constructor of `Request` accepts. The constructor refuses CONNECT, TRACE and
 * TRACK. No route has these methods, so they become OPTIONS, which no route has either.
 */
export function fetchMethod(method: string): string {
  return /^(?:CONNECT|TRACE|TRACK)$/i.test(method) ? 'OPTIONS' : method
}
