// Detects that a body which is being sent no longer moves. A line moves while the socket takes bytes,
// and while the other side acknowledges what the system holds: a send buffer of some MB asks for more only
// when a third of it is free, which takes minutes on a slow line.

import { subscribe } from 'node:diagnostics_channel'
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import type { Clock, Timer } from './clock.ts'
import type { StreamBody } from './http.ts'
import type { NoAnswer } from './http-errors.ts'

/** How often the line is looked at within the time that it may stand still. */
const LOOKS = 3

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
  readonly stallMs: number
  readonly #source: StreamBody
  /** Of the chunks that the socket took. */
  bytes = 0
  /** Another number whenever a chunk was read, or was taken by the socket. */
  steps = 0
  failed = false
  /** Null until the request is written to a connection. */
  socket: Socket | null = null

  constructor(source: StreamBody) {
    this.#source = source
    this.length = source.length
    this.stallMs = source.stallMs
  }

  /** The head of its request is about to be written to this connection. */
  begin(socket: Socket): void {
    this.socket = socket
    this.steps += 1
  }

  get sentAll(): boolean {
    return this.bytes === this.length && (this.socket?.writableLength ?? 0) === 0
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of this.#source.chunks()) {
        this.steps += 1
        yield chunk
        this.steps += 1
        this.bytes += chunk.length
        this.#source.accepted?.(this.bytes)
      }
    } catch (error) {
      this.failed = true
      throw error
    }
  }
}

export class ProgressWatch implements Disposable {
  readonly #controller = new AbortController()
  readonly #clock: Clock
  readonly #body: CountedBody
  readonly #answerMs: number
  #timer: Timer | null = null
  #movedAt: number
  #steps = 0
  #queue: number | null = null
  #over = false
  /** Aborts when nothing has moved for too long. */
  readonly signal = this.#controller.signal

  /** `answerMs`: how long nothing may move where no byte is to be sent: before there is a connection, and after the last one. */
  constructor(clock: Clock, body: CountedBody, answerMs: number) {
    this.#clock = clock
    this.#body = body
    this.#answerMs = answerMs
    this.#movedAt = clock.monotonic()
    this.#wait()
  }

  /** Why it aborted. */
  explain(host: string): Pick<NoAnswer, 'why' | 'code' | 'reason'> {
    const { socket, sentAll } = this.#body
    const reason = `${host} did not accept a connection in time`
    if (socket === null) return { why: 'unreachable', code: 'connect-timeout', reason }
    return sentAll
      ? { why: 'silent', code: 'answer-timeout', reason: `${host} did not answer in time` }
      : { why: 'stalled', code: 'stalled', reason: `${host} stopped taking bytes` }
  }

  [Symbol.dispose](): void {
    this.#over = true
    this.#timer?.cancel()
  }

  get #limit(): number {
    const { socket, sentAll, stallMs } = this.#body
    return socket === null || sentAll ? this.#answerMs : stallMs
  }

  #wait(): void {
    const left = this.#movedAt + this.#limit - this.#clock.monotonic()
    const ms = Math.max(0, Math.min(left, this.#body.stallMs / LOOKS))
    this.#timer = this.#clock.after(ms, () => void this.#look())
  }

  async #look(): Promise<void> {
    if (await this.#hasMoved()) this.#movedAt = this.#clock.monotonic()
    if (this.#over) return
    if (this.#clock.monotonic() - this.#movedAt >= this.#limit) this.#controller.abort()
    else this.#wait()
  }

  async #hasMoved(): Promise<boolean> {
    const { socket, steps } = this.#body
    if (steps !== this.#steps) {
      this.#steps = steps
      this.#queue = null
      return true
    }
    const before = this.#queue
    this.#queue = socket === null ? null : await unacknowledged(socket)
    return before !== null && this.#queue !== null && this.#queue !== before
  }
}

/** Bytes that the other side has not acknowledged yet; null where the system does not tell (Linux does). */
async function unacknowledged({
  localPort,
  remotePort,
  remoteFamily,
}: Socket): Promise<number | null> {
  if (localPort === undefined || remotePort === undefined) return null
  const file = `/proc/self/net/${remoteFamily === 'IPv6' ? 'tcp6' : 'tcp'}`
  const table = await readFile(file, 'latin1').catch(() => '')
  // "number: address:port address:port state sent:received ...", in hex (proc_net_tcp of the kernel's documentation).
  const pattern = `^ *\\d+: \\w+:${inHex(localPort)} \\w+:${inHex(remotePort)} \\w\\w (\\w+):`
  const row = new RegExp(pattern, 'm').exec(table)
  return row?.[1] === undefined ? null : Number.parseInt(row[1], 16)
}

function inHex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0')
}
