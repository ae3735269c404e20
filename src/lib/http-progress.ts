// Detects that a body which is being sent no longer moves. A line moves while the socket takes bytes,
// and while the other side acknowledges what the system holds: a send buffer of some MB asks for more only
// when a third of it is free, which takes minutes on a slow line.

import { subscribe } from 'node:diagnostics_channel'
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import type { Clock } from './clock.ts'
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
  /** Since this was cleared it was written to a connection, or a chunk was read or was taken by the socket. */
  hasMoved = false
  /** What its source threw; null: nothing. */
  error: unknown = null
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
    this.hasMoved = true
  }

  get sentAll(): boolean {
    return this.bytes === this.length && (this.socket?.writableLength ?? 0) === 0
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of this.#source.chunks()) {
        this.hasMoved = true
        yield chunk
        this.hasMoved = true
        this.bytes += chunk.length
        this.#source.accepted?.(this.bytes)
      }
    } catch (error) {
      this.error = error
      throw error
    }
  }
}

/**
 * Looks until it is disposed. `answerMs`: how long nothing may move where no byte is to be sent: before there is a
 * connection, and after the last one.
 */
export function watchProgress(clock: Clock, body: CountedBody, answerMs: number) {
  const controller = new AbortController()
  let timer: Disposable
  let movedAt = clock.monotonic()
  let queue: number | null = null
  let isOver = false

  const limit = () => (body.socket === null || body.sentAll ? answerMs : body.stallMs)
  const hasMoved = async () => {
    if (body.hasMoved) {
      body.hasMoved = false
      queue = null
      return true
    }
    const before = queue
    queue = body.socket === null ? null : await unacknowledged(body.socket)
    return before !== null && queue !== null && queue !== before
  }
  const look = async () => {
    if (await hasMoved()) movedAt = clock.monotonic()
    if (isOver) return
    if (clock.monotonic() - movedAt >= limit()) controller.abort()
    else wait()
  }
  const wait = () => {
    const left = movedAt + limit() - clock.monotonic()
    timer = clock.after(Math.max(0, Math.min(left, body.stallMs / LOOKS)), () => void look())
  }
  wait()

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
    [Symbol.dispose]: () => {
      isOver = true
      timer[Symbol.dispose]()
    },
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
