// One request on one connection, and the ways to answer it: properly, early with one of four
// endings, or by breaking the connection. Uses the socket itself where node:http is too polite.

import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { Clock } from '../lib/clock.ts'
import type { BodyReader } from './body-reader.ts'
import type { Cut, Ending, FaultSubject } from './fault-types.ts'
import type { Plan } from './faults.ts'
import type { Gate } from './gate.ts'
import type { Journal, SeenRequest } from './journal.ts'

export interface Answer {
  status: number
  headers: Record<string, string>
  body: Buffer
  /** For the journal. */
  code: string | null
}

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly socket: Socket
  readonly reader: BodyReader
  readonly entry: SeenRequest
  /** Whether the connection served a request before. */
  readonly reused: boolean
  readonly journal: Journal
  readonly clock: Clock
  /** Aborts when the sandbox closes. */
  readonly signal: AbortSignal
}

export function subjectOf({ entry, reused }: Exchange): FaultSubject {
  return { route: entry.route, account: entry.account, key: entry.key, reused }
}

/** A header of the request; several of the same name are joined as node:http joins them. */
export function header(exchange: Exchange, name: string): string | null {
  const value = exchange.request.headers[name.toLowerCase()]
  return value === undefined ? null : String(value)
}

/** Answers a request that was read to its end, and keeps the connection unless the plan says otherwise. */
export async function answer(exchange: Exchange, what: Answer, plan: Plan): Promise<void> {
  const { response, socket, journal, entry } = exchange
  if (socket.destroyed) return
  journal.update(entry, { status: what.status, code: what.code })
  sendInterim(response, plan)
  const how = plan.get('transfer')?.how
  const body = how === 'gzip' ? gzipSync(what.body) : what.body
  const bodyless = what.status === 204 || what.status === 304
  response.sendDate = false
  response.writeHead(what.status, {
    ...what.headers,
    ...(how === 'gzip' ? { 'content-encoding': 'gzip' } : {}),
    ...(how === 'chunked' || bodyless ? {} : { 'content-length': String(body.length) }),
    ...connectionHeaders(plan),
  })
  if (!bodyless) await writeBody(exchange, body, plan)
  await new Promise<void>((resolve) => {
    socket.once('close', resolve)
    response.end(() => {
      socket.off('close', resolve)
      resolve()
    })
    if (socket.destroyed) resolve()
  })
  closeIdleLater(exchange, plan)
}

/** Answers before the body was read, as far as the answer gets. The connection is not used again. */
export async function answerEarly(exchange: Exchange, what: Answer, ending: Ending): Promise<void> {
  const { socket, reader, journal, entry } = exchange
  journal.update(entry, { status: what.status, code: what.code })
  const head = rawHead(what, { connection: 'close' })
  const whole = Buffer.concat([head, what.body])
  switch (ending) {
    case 'drain':
      socket.end(whole)
      reader.drain()
      return
    case 'destroy':
      await write(socket, whole)
      socket.destroy()
      return
    case 'hold':
      await write(socket, whole)
      return
    case 'cut':
      await write(socket, whole.subarray(0, head.length + (what.body.length >> 1)))
      socket.resetAndDestroy()
      return
    default:
      return ending satisfies never
  }
}

/** Sends bytes as they are and closes. */
export function answerRaw({ socket, reader }: Exchange, bytes: Buffer): void {
  socket.end(bytes)
  reader.drain()
}

export function cut({ socket }: Exchange, how: Cut): void {
  if (how === 'rst') socket.resetAndDestroy()
  else socket.end(() => socket.destroy())
}

/** Resolves when the other side is gone or the sandbox closes. */
export function silence({ socket, signal }: Exchange): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed || signal.aborted) return resolve()
    socket.once('close', () => resolve())
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Returns when no gate holds the request (any more). */
export async function passGate(exchange: Exchange, gate: Gate | undefined): Promise<void> {
  if (gate === undefined || gate.isOpen) return
  const { journal, entry } = exchange
  const passed = gate.hold(silence(exchange))
  journal.update(entry, { held: true })
  await passed
  journal.update(entry, { held: false })
}

export function rawHead(what: Answer, more: Record<string, string>): Buffer {
  const headers = { ...what.headers, 'content-length': String(what.body.length), ...more }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(
    `HTTP/1.1 ${what.status} ${STATUS_CODES[what.status] ?? ''}\r\n${lines.join('')}\r\n`,
    'latin1',
  )
}

function sendInterim(response: ServerResponse, plan: Plan): void {
  const status = plan.get('interim')?.status
  switch (status) {
    case undefined:
      break
    case 100:
      response.writeContinue()
      break
    case 102:
      response.writeProcessing()
      break
    case 103:
      response.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' })
      break
    default:
      status satisfies never
  }
}

async function writeBody(exchange: Exchange, body: Buffer, plan: Plan): Promise<void> {
  const { response, socket, clock, signal } = exchange
  const rate = plan.get('slow')?.bytesPerSecond
  const how = plan.get('transfer')?.how
  if (rate === undefined && how !== 'byte-by-byte') {
    response.write(body)
    return
  }
  socket.setNoDelay(true)
  response.flushHeaders()
  for (let at = 0; at < body.length && !socket.destroyed && !signal.aborted; at++) {
    if (rate !== undefined) await clock.sleep(1000 / rate, signal)
    // Each byte its own segment: a write that waits for the one before it is not joined with it.
    await new Promise<void>((resolve) => {
      socket.once('close', resolve)
      response.write(body.subarray(at, at + 1), () => {
        socket.off('close', resolve)
        resolve()
      })
    })
  }
}

function connectionHeaders(plan: Plan): Record<string, string> {
  if (plan.get('connection-close')) return { connection: 'close' }
  const keepAlive = plan.get('keep-alive')
  if (keepAlive === undefined) return {}
  return { connection: 'keep-alive', 'keep-alive': `timeout=${keepAlive.seconds}` }
}

function closeIdleLater(exchange: Exchange, plan: Plan): void {
  const keepAlive = plan.get('keep-alive')
  if (keepAlive === undefined) return
  exchange.clock.after(keepAlive.closeAfterMs, () => cut(exchange, keepAlive.how ?? 'fin'))
}

function write(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    socket.write(bytes, () => resolve())
  })
}
