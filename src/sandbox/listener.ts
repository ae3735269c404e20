// One listening side of the sandbox: accepts, counts connections, hands each request to its side and
// keeps the journal true whatever happens. Service and storage are two of these, as in reality.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Clock } from '../lib/clock.ts'
import { errorCode, messageOf } from '../lib/errors.ts'
import { BodyReader } from './body-reader.ts'
import { type Exchange, rawHead } from './exchange.ts'
import type { Side } from './fault-types.ts'
import type { FaultBook } from './faults.ts'
import type { Journal } from './journal.ts'

export interface ListenerOptions {
  side: Side
  host: string
  port: number
  idleTimeoutMs: number
  clock: Clock
  journal: Journal
  faults: FaultBook
  handle: (exchange: Exchange) => Promise<void>
}

interface Connection {
  readonly n: number
  served: number
  reader: BodyReader | null
}

export class Listener implements AsyncDisposable {
  readonly #options: ListenerOptions
  readonly #server: Server
  readonly #connections = new Map<Socket, Connection>()
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<void>>()
  #accepted = 0

  private constructor(options: ListenerOptions) {
    this.#options = options
    // The limits of node:http would answer before ours do, so they are off.
    this.#server = createServer({ requestTimeout: 0, headersTimeout: 0 })
    this.#server.on('connection', (socket: Socket) => this.#accept(socket))
    const serve = (request: IncomingMessage, response: ServerResponse) => {
      const running = this.#serve(request, response).finally(() => this.#running.delete(running))
      this.#running.add(running)
    }
    this.#server.on('request', serve)
    this.#server.on('checkContinue', (request, response) => {
      response.writeContinue()
      serve(request, response)
    })
    this.#server.on('clientError', (error: Error, socket) => this.#misread(error, socket as Socket))
  }

  static async start(options: ListenerOptions): Promise<Listener> {
    const listener = new Listener(options)
    await new Promise<void>((resolve, reject) => {
      listener.#server.once('error', reject)
      listener.#server.listen(options.port, options.host, resolve)
    })
    return listener
  }

  /** `http://127.0.0.1:41234`. */
  get origin(): string {
    const { address, family, port } = this.#server.address() as AddressInfo
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve())
      for (const socket of this.#connections.keys()) socket.destroy()
    })
    await Promise.all(this.#running)
  }

  #accept(socket: Socket): void {
    const { faults, side } = this.#options
    const refusal = faults
      .plan(side, 'connect', { route: 'connect', account: null, key: null, reused: false })
      .get('refuse')
    socket.on('error', () => socket.destroy())
    this.#connections.set(socket, { n: ++this.#accepted, served: 0, reader: null })
    socket.once('close', () => this.#connections.delete(socket))
    if (refusal?.how === 'rst') socket.resetAndDestroy()
    if (refusal?.how === 'fin') socket.destroy()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { clock, journal, side, idleTimeoutMs, handle } = this.#options
    const connection = this.#connections.get(request.socket)
    if (connection === undefined) return
    const reader = new BodyReader(request, clock, idleTimeoutMs)
    connection.reader = reader
    const entry = journal.open(side, request.method ?? '', 'unknown', connection.n)
    const exchange: Exchange = {
      request,
      response,
      socket: request.socket,
      reader,
      entry,
      reused: connection.served++ > 0,
      journal,
      clock,
      signal: this.#closing.signal,
    }
    try {
      await handle(exchange)
    } catch (error) {
      // A mistake of the sandbox must not look like a fault that a test asked for.
      journal.update(entry, { code: `sandbox-bug: ${messageOf(error)}` })
      request.socket.destroy()
    } finally {
      journal.close(entry)
    }
  }

  /** The parser of node:http gave up: too few bytes, bytes after the body, or no HTTP at all. */
  #misread(error: Error, socket: Socket): void {
    const reader = this.#connections.get(socket)?.reader
    if (errorCode(error) === 'HPE_INVALID_EOF_STATE' && reader && !reader.ended) {
      reader.short()
      return
    }
    if (errorCode(error) === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const { journal, side } = this.#options
    const entry = journal.open(side, '', 'unparseable', this.#connections.get(socket)?.n ?? 0)
    journal.update(entry, { status: 400, code: errorCode(error) })
    journal.close(entry)
    const answer = { status: 400, headers: {}, body: Buffer.alloc(0), code: null }
    socket.end(rawHead(answer, { connection: 'close' }), () => socket.destroy())
  }
}
