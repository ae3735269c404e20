// An exchange is one request on one connection. It reads the body in pieces and answers the request: properly, early
// with one of four endings, or by breaking the connection. A client that stops, hangs up or sends less than it
// announced is an expected outcome. If node:http cannot send what a fault asks for, the exchange writes to the socket.

import { createReadStream } from 'node:fs'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'
import type { Clock } from '../lib/clock.ts'
import type { Answer } from './answer.ts'
import type { SandboxDatabase } from './database.ts'
import type { Cut, FaultKind, FaultOf, GatePoint, Side } from './fault-types.ts'
import { type Fault, type FaultBook, ruleOf, type Stage } from './faults.ts'
import type { Journal } from './journal.ts'
import type { SeenRequest } from './records.ts'

/** BodyEnd: `idle` means no byte for the idle time; `short`, a FIN too early; `closed`, a closed connection. */
type BodyEnd = 'end' | 'idle' | 'short' | 'closed'

/** ConnectionClosed is thrown when the connection has ended, so that nobody waits for an answer. */
export class ConnectionClosed extends Error {}

/** SideOptions describe one side of the sandbox: the service or its storage. */
export interface SideOptions {
  side: Side
  host: string
  /** port 0 means the port of the last run or, at the first start, any free port. */
  port: number
  database: SandboxDatabase
  handle: (exchange: Exchange) => Promise<void>
  journal: Journal
  faults: FaultBook
  clock: Clock
  /** idleTimeoutMs is the time without a byte after which the side stops reading a body. */
  idleTimeoutMs: number
}

export interface Connection {
  readonly n: number
  /** closed resolves when the connection is closed. */
  readonly closed: Promise<void>
  /** exchange is the newest one of this connection. */
  exchange: Exchange | null
}

export class Exchange {
  readonly request: IncomingMessage
  readonly entry: SeenRequest
  readonly closed: Promise<void>
  /** bodyEnd says how the body ended; it is null while more may come. */
  bodyEnd: BodyEnd | null = null
  /** #changed resolves when the body has another piece or has ended. */
  #changed = Promise.withResolvers<void>()
  readonly #onReadable = () => this.#changed.resolve()
  #faults: readonly Fault[] = []
  readonly #response: ServerResponse
  readonly #options: SideOptions
  readonly #signal: AbortSignal
  readonly #reused: boolean
  /** #startedAt is in monotonic ms. */
  readonly #startedAt: number

  /** `signal` aborts when the sandbox closes. */
  constructor(
    options: SideOptions,
    connection: Connection,
    request: IncomingMessage,
    response: ServerResponse,
    signal: AbortSignal,
  ) {
    const { side, journal } = options
    this.request = request
    request.on('readable', this.#onReadable)
    request.on('end', () => this.endBody('end'))
    request.on('error', () => this.endBody('closed'))
    request.on('close', () => this.endBody('closed'))
    this.entry = journal.open({ side, connection: connection.n, method: request.method ?? '' })
    this.closed = connection.closed
    this.#response = response
    this.#options = options
    this.#signal = signal
    this.#reused = connection.exchange !== null
    this.#startedAt = options.clock.monotonic()
    connection.exchange = this
  }

  get socket(): Socket {
    return this.request.socket
  }

  get url(): string {
    return `http://${this.header('host')}${this.request.url}`
  }

  /** elapsed returns whole ms since the request arrived. */
  elapsed(): number {
    return Math.round(this.#options.clock.monotonic() - this.#startedAt)
  }

  note(facts: Partial<SeenRequest>): void {
    this.#options.journal.update(this.entry, facts)
  }

  /** header returns a header of the request, or null. node:http joins several headers of the same name. */
  header(name: string): string | null {
    const value = this.request.headers[name.toLowerCase()]
    return value === undefined ? null : String(value)
  }

  /** now returns the wall clock of this side in ms, which a fault may skew. */
  now(): number {
    return this.#options.clock.now() + (this.fault('date')?.skewMs ?? 0)
  }

  sleep(ms: number): Promise<void> {
    return this.#options.clock.sleep(ms, this.#signal)
  }

  /** chooseFaults chooses the faults of this stage. They replace those of the stage before. */
  chooseFaults(stage: Stage): void {
    const { side, route, account, key } = this.entry
    const subject = { route, account, key, reused: this.#reused }
    this.#faults = this.#options.faults.choose(side, stage, subject)
    const kinds = this.#faults.map(({ rule }) => rule.kind)
    this.note({ faults: [...this.entry.faults, ...kinds] })
  }

  /** fault returns the chosen fault of this kind, if any. */
  fault<K extends FaultKind>(kind: K): FaultOf<K> | undefined {
    return ruleOf(this.#faults, kind)
  }

  /** endBody records how the body ended. Only the first call counts. */
  endBody(how: BodyEnd): void {
    this.bodyEnd ??= how
    this.#changed.resolve()
  }

  /** pieces yields the pieces of the body as they arrive. Throws `ConnectionClosed` if the client closes. */
  async *pieces(): AsyncGenerator<Buffer, void> {
    const { clock, idleTimeoutMs } = this.#options
    for (;;) {
      this.#changed = Promise.withResolvers()
      const bytes: Buffer | null = this.request.read()
      if (bytes !== null) {
        this.note({ bytes: this.entry.bytes + bytes.length })
        yield bytes
      } else if (this.bodyEnd === null) {
        using _timer = clock.after(idleTimeoutMs, () => this.endBody('idle'))
        await this.#changed.promise
      } else break
    }
    if (this.bodyEnd === 'closed') throw new ConnectionClosed()
  }

  /** wholeBody returns the body, or null if it ended early or is longer than `limit` bytes. */
  async wholeBody(limit: number): Promise<Buffer | null> {
    const read: Buffer[] = []
    for await (const piece of this.pieces()) {
      read.push(piece)
      if (this.entry.bytes > limit) return null
    }
    return this.bodyEnd === 'end' ? Buffer.concat(read) : null
  }

  /** begin notes the facts and plays the faults that come before the body. */
  async begin(facts: Partial<SeenRequest>): Promise<void> {
    this.note(facts)
    this.chooseFaults('headers')
    const drop = this.fault('drop')
    if (drop !== undefined) await this.cut(drop.how)
    await this.waitAtGate('headers')
  }

  /** waitAtGate returns when no gate at this point holds the request. The point `file` is that of `gate-at-byte`. */
  async waitAtGate(point: GatePoint | 'file'): Promise<void> {
    const gate = this.#faults.find(({ rule }) =>
      point === 'file'
        ? rule.kind === 'gate-at-byte'
        : rule.kind === 'gate' && rule.point === point,
    )
    if (gate === undefined || gate.isOpen) return
    const passed = gate.hold(this.closed)
    this.note({ held: true })
    await passed
    this.note({ held: false })
  }

  /** answer answers a request that was read to its end. The connection stays open unless a fault closes it. */
  async answer(what: Answer): Promise<void> {
    const response = this.#response
    if (this.socket.destroyed) return
    if (what.ending !== undefined) return this.answerEarly(what)
    this.note({ status: what.status, code: what.code })
    const interim = this.fault('interim')?.status
    if (interim !== undefined) {
      this.socket.write(`HTTP/1.1 ${interim} ${STATUS_CODES[interim]}\r\n\r\n`)
    }
    const how = this.fault('transfer')?.how
    const body = how === 'gzip' ? gzipSync(what.body) : what.body
    const bodyless = what.status === 204 || what.status === 304
    const keepAlive = this.fault('keep-alive')
    response.sendDate = false
    response.writeHead(what.status, {
      ...this.#headers(what),
      ...(how === 'gzip' && { 'content-encoding': 'gzip' }),
      ...(how !== 'chunked' && !bodyless && { 'content-length': String(body.length) }),
      ...(keepAlive && { connection: 'keep-alive', 'keep-alive': `timeout=${keepAlive.seconds}` }),
      ...(this.fault('connection-close') && { connection: 'close' }),
    })
    if (!bodyless) await this.#writeBody(body)
    response.end()
    await finished(response).catch(() => {})
    if (keepAlive === undefined) return
    this.#options.clock.after(keepAlive.closeAfterMs, () => this.#close(keepAlive.how ?? 'fin'))
  }

  /** answerFile answers with the bytes of a file, or only with the headers if the request is a HEAD. */
  async answerFile(status: number, headers: Record<string, string>, path: string): Promise<void> {
    this.note({ status })
    this.#response.sendDate = false
    this.#response.writeHead(status, { ...this.#headers({ headers }), ...headers })
    if (this.request.method === 'HEAD') {
      this.#response.end()
      await finished(this.#response).catch(() => {})
    } else await pipeline(createReadStream(path), this.#response).catch(() => this.socket.destroy())
  }

  /** answerEarly answers before the body is read to its end, and closes the connection. */
  async answerEarly(what: Answer): Promise<void> {
    const { socket } = this
    const { ending = 'drain' } = what
    this.note({ status: what.status, code: what.code })
    const head = rawHead(what.status, { ...this.#headers(what), connection: 'close' }, what.body)
    const whole = Buffer.concat([head, what.body])
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

  /** cutAndWait ends the connection and resolves `ms` later, or as soon as the sandbox closes. */
  async cutAndWait(how: Cut | 'silence', ms: number): Promise<void> {
    await this.cut(how).catch(() => {})
    await this.sleep(ms)
  }

  /** cut ends the connection without an answer, or waits until the client closes it. Throws `ConnectionClosed`. */
  async cut(how: Cut | 'silence'): Promise<never> {
    if (how === 'silence') await this.closed
    else this.#close(how)
    throw new ConnectionClosed()
  }

  #close(how: Cut): void {
    if (how === 'rst') this.socket.resetAndDestroy()
    else this.socket.end(() => this.socket.destroy())
  }

  #headers(what: Pick<Answer, 'headers'>): Record<string, string> {
    const date = this.fault('date')
    return {
      ...(!date?.omit && { date: new Date(this.now()).toUTCString() }),
      ...(date?.ageSeconds !== undefined && { age: String(date.ageSeconds) }),
      ...(this.entry.side === 'storage' && { server: 'feedstore' }),
      ...what.headers,
    }
  }

  async #writeBody(body: Buffer): Promise<void> {
    const response = this.#response
    const rate = this.fault('slow')?.bytesPerSecond
    if (rate === undefined && this.fault('transfer')?.how !== 'byte-by-byte') {
      response.write(body)
      return
    }
    this.socket.setNoDelay(true)
    response.flushHeaders()
    for (let at = 0; at < body.length && !this.socket.destroyed && !this.#signal.aborted; at++) {
      if (rate !== undefined) await this.sleep(1000 / rate)
      // Waiting for each write puts each byte into a TCP segment of its own.
      await Promise.race([write(response, body.subarray(at, at + 1)), this.closed])
    }
  }
}

export function rawHead(status: number, headers: Record<string, string>, body: Buffer): Buffer {
  const all = { ...headers, 'content-length': String(body.length) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`,
    'latin1',
  )
}

function write(stream: Writable, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    stream.write(bytes, () => resolve())
  })
}
