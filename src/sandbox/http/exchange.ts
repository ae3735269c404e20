// An exchange is one request on one connection. It reads the body in pieces and answers the request: properly, early
// with one of four endings, or by breaking the connection. A client that stops, hangs up or sends less than it
// announced is an expected outcome. If node:http cannot send an answer as its delivery says, the exchange writes to the
// socket.

import { createReadStream } from 'node:fs'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'
import type { Clock } from '../../lib/clock.ts'
import type { Journal } from '../journal.ts'
import type { SeenRequest, Side } from '../records.ts'
import { type Answer, type Cut, type Delivery, refuse } from './answer.ts'

/**
 * BodyEnd says how the body of a request ended: complete (`end`), without a byte for the idle time (`idle`), with a FIN
 * before its announced length (`short`), or with the connection (`closed`).
 */
type BodyEnd = 'end' | 'idle' | 'short' | 'closed'

/** ConnectionClosed is thrown when the connection has ended, so that nobody waits for an answer. */
export class ConnectionClosed extends Error {}

/** ExchangeOptions hold for all exchanges of one side. */
export interface ExchangeOptions {
  side: Side
  journal: Journal
  clock: Clock
  /** idleTimeoutMs is the time without a byte after which the side stops reading a body. */
  idleTimeoutMs: number
}

/** Arrival is a request on a connection. */
interface Arrival {
  connection: SideConnection
  request: IncomingMessage
  response: ServerResponse
}

/** Screen decides whether a new connection is served or ended. */
export interface Screen {
  /** isPatient says that `judge` gets the first line of the request. Otherwise it is called at once, with ''. */
  isPatient: boolean
  /** judge returns how the connection ends, or null to serve it. */
  judge(firstLine: string): Cut | null
}

export interface SideConnection {
  /** n counts the connections of a side from 1. */
  readonly n: number
  /** closed resolves when the connection is closed. */
  readonly closed: Promise<void>
  /** exchange is the newest exchange of this connection. */
  exchange: Exchange | null
}

export class Exchange {
  readonly request: IncomingMessage
  readonly entry: SeenRequest
  readonly closed: Promise<void>
  /** reused says that the connection served a request before. */
  readonly reused: boolean
  /** path and query are as sent, without the question mark between them, and without scheme and host. */
  readonly path: string
  readonly query: string
  /** delivery says how answers are sent from now on. */
  delivery: Delivery = {}
  /** bodyEnd says how the body ended; it is null while more can come. */
  bodyEnd: BodyEnd | null = null
  /** #changed resolves when the body has another piece or has ended. */
  #changed = Promise.withResolvers<void>()
  readonly #onReadable = () => this.#changed.resolve()
  readonly #response: ServerResponse
  readonly #journal: Journal
  readonly #clock: Clock
  readonly #idleTimeoutMs: number
  readonly #signal: AbortSignal
  /** #startedAt is in monotonic ms. */
  readonly #startedAt: number
  /** #run is the run of the journal in which the request arrived. */
  readonly #run: number

  /** `signal` aborts when the sandbox closes. */
  constructor(
    { connection, request, response }: Arrival,
    { side, journal, clock, idleTimeoutMs }: ExchangeOptions,
    signal: AbortSignal,
  ) {
    const { method = '', url = '', rawHeaders } = request
    const target = url.replace(/^https?:\/\/[^/?#]*/i, '')
    this.request = request
    request.on('readable', this.#onReadable)
    request.on('end', () => this.endBody('end'))
    request.on('error', () => this.endBody('closed'))
    request.on('close', () => this.endBody('closed'))
    const [path = '', query = ''] = target.split(/\?(.*)/s)
    this.path = path === '' ? '/' : path
    this.query = query
    this.entry = journal.open({ side, connection: connection.n, method })
    journal.record(this.entry, { path: this.path, query, rawHeaders })
    this.closed = connection.closed
    this.reused = connection.exchange !== null
    this.#response = response
    this.#journal = journal
    this.#clock = clock
    this.#idleTimeoutMs = idleTimeoutMs
    this.#signal = signal
    this.#startedAt = clock.monotonic()
    this.#run = journal.run
    connection.exchange = this
  }

  get socket(): Socket {
    return this.request.socket
  }

  /** origin is the origin of the request's address. Without a header Host, it has the address of the socket. */
  get origin(): string {
    const { localAddress = '', localPort } = this.socket
    const here = `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`
    return `http://${this.header('host') ?? here}`
  }

  /** url is the address of the request. */
  get url(): string {
    return `${this.origin}${this.path}${this.query === '' ? '' : `?${this.query}`}`
  }

  /** elapsed returns whole ms since the request arrived. */
  elapsed(): number {
    return Math.round(this.#clock.monotonic() - this.#startedAt)
  }

  /** update adds facts to the entry of this request in the journal. */
  update(facts: Partial<SeenRequest>): void {
    this.#journal.update(this.entry, facts)
  }

  /** header returns a header of the request, or null. node:http joins several headers of the same name. */
  header(name: string): string | null {
    const value = this.request.headers[name.toLowerCase()]
    return value === undefined ? null : String(value)
  }

  /** now returns the wall-clock time of this side in ms. A fault can change it for one request. */
  now(): number {
    return this.#clock.now() + (this.delivery.skewMs ?? 0)
  }

  /** sleep resolves after `ms`. It rejects when the sandbox closes. */
  sleep(ms: number): Promise<void> {
    return this.#clock.sleep(ms, this.#signal)
  }

  /** checkRun throws `ConnectionClosed` if the sandbox was reset since the request arrived. */
  checkRun(): void {
    if (this.#run !== this.#journal.run) throw new ConnectionClosed()
  }

  /** endBody records how the body ended. Only the first call counts. */
  endBody(how: BodyEnd): void {
    this.bodyEnd ??= how
    this.#changed.resolve()
  }

  /**
   * pieces yields the pieces of the body as they arrive, and records them. It ends with the body; then `bodyEnd` says
   * how the body ended. Throws `ConnectionClosed` if the connection closes.
   */
  async *pieces(): AsyncGenerator<Buffer, void> {
    for (;;) {
      this.#changed = Promise.withResolvers()
      const bytes: Buffer | null = this.request.read()
      if (bytes !== null) {
        this.#journal.recordBody(this.entry, bytes)
        this.update({ bytes: this.entry.bytes + bytes.length })
        yield bytes
      } else if (this.bodyEnd === null) {
        using _timer = this.#clock.after(this.#idleTimeoutMs, () => this.endBody('idle'))
        await this.#changed.promise
      } else break
    }
    if (this.bodyEnd === 'closed') throw new ConnectionClosed()
  }

  /** wholeBody returns the body. It refuses with 400 a body that ends early, and with 413 more than `limit` bytes. */
  async wholeBody(limit: number): Promise<Buffer> {
    const read: Buffer[] = []
    for await (const piece of this.pieces()) {
      read.push(piece)
      if (this.entry.bytes > limit) {
        refuse(413, 'body-too-large', `the body is longer than ${limit} bytes`)
      }
    }
    if (this.bodyEnd !== 'end') refuse(400, 'body-unreadable', 'the body ended early')
    return Buffer.concat(read)
  }

  /**
   * answer answers a request that was read to its end. The connection stays open, unless the delivery or the ending of
   * the answer closes it. On a connection that is already closed, nothing happens.
   */
  async answer(what: Answer): Promise<void> {
    const response = this.#response
    if (this.socket.destroyed) return
    if (what.ending !== undefined) return this.answerEarly(what)
    this.#recordAnswer(what)
    const { interim, transfer, idle, close } = this.delivery
    if (interim !== undefined) {
      this.socket.write(`HTTP/1.1 ${interim} ${STATUS_CODES[interim]}\r\n\r\n`)
    }
    const body = transfer === 'gzip' ? gzipSync(what.body) : what.body
    const bodyless = what.status === 204 || what.status === 304 || this.request.method === 'HEAD'
    response.sendDate = false
    response.writeHead(what.status, {
      ...this.#headers(what.headers),
      ...(transfer === 'gzip' && { 'content-encoding': 'gzip' }),
      ...(transfer !== 'chunked' && !bodyless && { 'content-length': String(body.length) }),
      ...(idle && { connection: 'keep-alive', 'keep-alive': `timeout=${idle.seconds}` }),
      ...(close && { connection: 'close' }),
    })
    if (!bodyless) await this.#writeBody(body)
    response.end()
    await finished(response).catch(() => {})
    if (idle !== undefined) {
      this.#clock.after(idle.closeAfterMs, () => this.#close(idle.how))
    }
  }

  /** answerFile answers with the bytes of a file, or only with the headers if the request is a HEAD. */
  async answerFile(status: number, headers: Record<string, string>, path: string): Promise<void> {
    this.#recordAnswer({ status, headers, body: Buffer.alloc(0), code: null })
    this.#response.sendDate = false
    this.#response.writeHead(status, this.#headers(headers))
    if (this.request.method === 'HEAD') {
      this.#response.end()
      await finished(this.#response).catch(() => {})
    } else await pipeline(createReadStream(path), this.#response).catch(() => this.socket.destroy())
  }

  /** answerEarly answers before the body is read to its end. Then the connection ends as `ending` says. */
  async answerEarly(what: Answer): Promise<void> {
    const { socket } = this
    const { ending = 'drain' } = what
    this.#recordAnswer(what)
    const head = rawHead(
      what.status,
      { ...this.#headers(what.headers), connection: 'close' },
      what.body,
    )
    const whole = this.request.method === 'HEAD' ? head : Buffer.concat([head, what.body])
    if (ending === 'drain') return this.answerRaw(whole)
    const half = head.length + (what.body.length >> 1)
    await write(socket, ending === 'cut' ? whole.subarray(0, half) : whole)
    if (ending === 'destroy') socket.destroy()
    if (ending === 'cut') socket.resetAndDestroy()
  }

  /** answerRaw sends the bytes unchanged and closes the connection. It reads and drops the rest of the body. */
  answerRaw(bytes: Buffer): void {
    this.socket.end(bytes)
    this.request.off('readable', this.#onReadable)
    this.request.resume()
  }

  /** cut ends the connection without an answer, or with `silence` waits for its end. Throws `ConnectionClosed`. */
  async cut(how: Cut | 'silence'): Promise<never> {
    if (how === 'silence') await this.closed
    else this.#close(how)
    throw new ConnectionClosed()
  }

  #close(how: Cut): void {
    if (how === 'rst') this.socket.resetAndDestroy()
    else this.socket.end(() => this.socket.destroy())
  }

  #recordAnswer(what: Answer): void {
    this.update({ status: what.status, code: what.code })
    this.#journal.record(this.entry, { answerHeaders: what.headers, answer: what.body })
  }

  /** #headers adds the headers that every answer of this side has. */
  #headers(given: Record<string, string>): Record<string, string> {
    const { withoutDate, ageSeconds } = this.delivery
    return {
      ...(!withoutDate && { date: new Date(this.now()).toUTCString() }),
      ...(ageSeconds !== undefined && { age: String(ageSeconds) }),
      ...(this.entry.side === 'storage' && { server: 'feedstore' }),
      ...given,
    }
  }

  async #writeBody(body: Buffer): Promise<void> {
    const response = this.#response
    const { bytesPerSecond, transfer } = this.delivery
    if (bytesPerSecond === undefined && transfer !== 'byte-by-byte') {
      response.write(body)
      return
    }
    this.socket.setNoDelay(true)
    response.flushHeaders()
    for (let at = 0; at < body.length && !this.socket.destroyed && !this.#signal.aborted; at++) {
      if (bytesPerSecond !== undefined) await this.sleep(1000 / bytesPerSecond)
      // Waiting for each write puts each byte into a TCP segment of its own.
      await Promise.race([write(response, body.subarray(at, at + 1)), this.closed])
    }
  }
}

/** rawHead returns the status line and the headers of an answer as bytes, with the length of `body`. */
export function rawHead(status: number, headers: Record<string, string>, body: Buffer): Buffer {
  const all = { ...headers, 'content-length': String(body.length) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`,
    'latin1',
  )
}

/** write resolves when the bytes were written, or could not be written. */
function write(stream: Writable, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    stream.write(bytes, () => resolve())
  })
}
