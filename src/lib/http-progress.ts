// Counts a body that is being sent, and ends a request on which nothing moves any more: the socket takes no byte and
// no answer comes.

import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import type { Clock } from './clock.ts'
import type { NoAnswer } from './http-errors.ts'

export interface StreamBody {
  /** Exact number of bytes that `chunks` yields: it is sent as Content-Length. */
  length: number
  /** Started at most once a request; its `finally` runs whenever it was started. */
  chunks: () => AsyncIterable<Buffer>
  /** Told the bytes so far each time that the socket has taken a chunk. */
  onAccepted?: (bytes: number) => void
}

// Published with the socket just before the head of a request is written to it.
subscribe('undici:client:sendHeaders', (message) => {
  const { request, socket } = message as { request: { body: unknown }; socket: Socket }
  if (request.body instanceof CountedBody) request.body.begin(socket)
})

/**
 * undici asks for the next chunk when the socket takes more: only then the chunk before counts. A small one
 * may still lie in the socket then, which `sentAll` looks at.
 */
export class CountedBody implements AsyncIterable<Buffer> {
  readonly length: number
  readonly #source: StreamBody
  readonly #clock: Clock
  /** Of the chunks that the socket took. */
  bytes = 0
  /** Monotonic ms at which it was last written to a connection, or a chunk was read or was taken by the socket. */
  lastProgressAt: number
  /** What its source threw; null: nothing. */
  error: unknown = null
  /** Null until the request is written to a connection. */
  socket: Socket | null = null

  constructor(source: StreamBody, clock: Clock) {
    this.#source = source
    this.#clock = clock
    this.length = source.length
    this.lastProgressAt = clock.monotonic()
  }

  /** The head of its request is about to be written to this connection. */
  begin(socket: Socket): void {
    this.socket = socket
    this.#noteProgress()
  }

  get sentAll(): boolean {
    return this.bytes === this.length && (this.socket?.writableLength ?? 0) === 0
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of this.#source.chunks()) {
        this.#noteProgress()
        yield chunk
        this.#noteProgress()
        this.bytes += chunk.length
        this.#source.onAccepted?.(this.bytes)
      }
    } catch (error) {
      this.error = error
      throw error
    }
  }

  #noteProgress(): void {
    this.lastProgressAt = this.#clock.monotonic()
  }
}

/** Looks until it is disposed. `limitMs`: how long nothing may move. */
export function watchProgress(clock: Clock, body: CountedBody, limitMs: number) {
  const controller = new AbortController()
  let timer: Disposable
  const look = () => {
    const left = body.lastProgressAt + limitMs - clock.monotonic()
    if (left <= 0) controller.abort()
    else timer = clock.after(left, look)
  }
  timer = clock.after(limitMs, look)

  return {
    /** Aborts when nothing has moved for too long. */
    signal: controller.signal,
    /** Why it aborted. */
    explain: (host: string): Pick<NoAnswer, 'why' | 'code' | 'reason'> => {
      const reason = `${host} did not accept a connection in time`
      if (body.socket === null) return { why: 'unreachable', code: 'connect-timeout', reason }
      return body.sentAll
        ? { why: 'silent', code: 'answer-timeout', reason: `${host} did not answer in time` }
        : { why: 'stalled', code: 'stalled', reason: `${host} stopped taking bytes` }
    },
    [Symbol.dispose]: () => timer[Symbol.dispose](),
  }
}
