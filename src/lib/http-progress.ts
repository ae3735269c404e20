// Counts the bytes of a body during the upload, and ends a request that makes no progress: the socket takes no byte,
// and no answer comes.

import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import type { Clock } from './clock.ts'
import type { NoAnswer } from './http-errors.ts'
import { formatDuration } from './units.ts'

export interface StreamBody {
  /** Exact number of bytes that `chunks` yields, for Content-Length. */
  length: number
  /** chunks is called at most once for each request. Once the iterator has started, its `finally` always runs. */
  chunks: () => AsyncIterable<Buffer>
  /** Longest time in ms, from the last byte that the socket took to the next byte. */
  stallMs: number
  /** onAccepted is called with the bytes so far, each time the socket took a chunk. */
  onAccepted?: (bytes: number) => void
}

// undici publishes this message, with the socket, just before it writes the head of a request to the socket.
subscribe('undici:client:sendHeaders', (message) => {
  const { request, socket } = message as { request: { body: unknown }; socket: Socket }
  if (request.body instanceof CountedBody) request.body.begin(socket)
})

/**
 * CountedBody counts a chunk when undici asks for the next chunk, because only then did the socket take it. The last
 * bytes can still be in the buffer of the socket, so `sentAll` checks that, too.
 */
export class CountedBody implements AsyncIterable<Buffer> {
  readonly length: number
  readonly stallMs: number
  readonly #source: StreamBody
  readonly #clock: Clock
  /** Bytes of the chunks that the socket took. */
  bytes = 0
  /** Monotonic ms of the last progress: the head was written, or a chunk was read or taken by the socket. */
  lastProgressAt: number
  /** The error that the source threw; null if it threw none. */
  error: unknown = null
  /** null until the request is written to a connection. */
  socket: Socket | null = null

  constructor(source: StreamBody, clock: Clock) {
    this.#source = source
    this.#clock = clock
    this.length = source.length
    this.stallMs = source.stallMs
    this.lastProgressAt = clock.monotonic()
  }

  /** begin stores the connection just before the head of the request is written to it. */
  begin(socket: Socket): void {
    this.socket = socket
    this.#noteProgress()
  }

  /** sentAll is true when the network has the whole body: the buffer of the socket is empty, too. */
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

/**
 * watchProgress aborts its signal when the body made no progress for its `stallMs`, or when no answer came for
 * `answerMs` after its last byte. It watches until it is disposed.
 */
export function watchProgress(clock: Clock, body: CountedBody, answerMs: number) {
  const controller = new AbortController()
  let timer: Disposable
  const look = () => {
    const limitMs = body.sentAll ? answerMs : body.stallMs
    const left = body.lastProgressAt + limitMs - clock.monotonic()
    if (left <= 0) controller.abort()
    else timer = clock.after(left, look)
  }
  timer = clock.after(body.stallMs, look)

  return {
    signal: controller.signal,
    explain: (host: string): Pick<NoAnswer, 'why' | 'code' | 'reason'> => {
      const reason = `${host} did not accept a connection in time`
      if (body.socket === null) return { why: 'unreachable', code: 'connect-timeout', reason }
      return body.sentAll
        ? { why: 'silent', code: 'answer-timeout', reason: silence(host, answerMs) }
        : {
            why: 'stalled',
            code: 'stalled',
            reason: `${host} took no byte for ${formatDuration(body.stallMs)}`,
          }
    },
    [Symbol.dispose]: () => timer[Symbol.dispose](),
  }
}

function silence(host: string, answerMs: number): string {
  return `${host} took the whole request and did not answer within ${formatDuration(answerMs)}`
}
