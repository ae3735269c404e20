// A listener accepts and counts the connections of one side of the sandbox, has that side handle each request, and
// always closes the request's entry in the journal. Service and storage have a listener each, like two real hosts.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { EXIT, errorCode, FeedsyncError, messageOf } from '../../lib/errors.ts'
import type { SandboxDatabase } from '../database.ts'
import { type Cut, Refusal } from './answer.ts'
import {
  ConnectionClosed,
  Exchange,
  type ExchangeOptions,
  rawHead,
  type Screen,
  type SideConnection,
} from './exchange.ts'

/** LONGEST_SCREENED is how many bytes a patient screen waits for if no line ends before. */
const LONGEST_SCREENED = 4096

/** SideOptions describe one side of the sandbox: the service or its storage. */
interface SideOptions extends ExchangeOptions {
  host: string
  /** port 0 means the port of the last run or, in the first run, any free port. */
  port: number
  database: SandboxDatabase
  /** handle answers a request. It can throw a Refusal instead, or ConnectionClosed if the connection has ended. */
  handle: (exchange: Exchange) => Promise<void>
  /** screen returns what judges a new connection, or null if every connection is served. */
  screen: () => Screen | null
  /** headTimeoutMs is the time that a client has to send the head of a request. */
  headTimeoutMs: number
}

/** SideListener serves one side of the sandbox, the service or its storage, until it is disposed. */
interface SideListener extends AsyncDisposable {
  /** origin is an address such as `http://127.0.0.1:41234`. */
  origin: string
  /**
   * originFor returns the origin of this side for a client that called `url` on the other side. If the sandbox listens
   * on every address, the origin has the host name of `url`.
   */
  originFor(url: string): string
  /** endConnections ends all connections at once, except the connection of `exchange`. */
  endConnections(exchange: Exchange | null): void
}

/**
 * listen starts the listener of one side, and saves its port in the database.
 * @throws FeedsyncError (75) if it cannot listen on the port.
 */
export async function listen(options: SideOptions): Promise<SideListener> {
  const { side, journal, handle, headTimeoutMs } = options
  const connections = new Map<Socket, SideConnection>()
  const running = new Set<Promise<void>>()
  const closing = new AbortController()
  let accepted = 0
  const server = createServer({
    // There is no time limit for a whole request. The exchange stops reading an idle body, as S3 does.
    requestTimeout: 0,
    headersTimeout: headTimeoutMs,
    connectionsCheckingInterval: Math.min(1000, headTimeoutMs / 4),
  })
  const [serveConnection] = server.listeners('connection') as [(socket: Socket) => void]
  server.removeAllListeners('connection')

  server.on('connection', (socket: Socket) => {
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    connections.set(socket, { n: ++accepted, closed, exchange: null })
    socket.on('error', () => socket.destroy())
    socket.once('close', () => {
      connections.delete(socket)
      resolve()
    })
    const screen = options.screen()
    if (screen === null) return serveConnection.call(server, socket)
    const judge = (head: Buffer) => {
      const how = screen.judge(head.toString('latin1'))
      if (how !== null) return endConnection(socket, how)
      if (head.length > 0) socket.unshift(head)
      serveConnection.call(server, socket)
      socket.resume()
    }
    if (!screen.isPatient) return judge(Buffer.alloc(0))
    const timer = options.clock.after(headTimeoutMs, () => socket.destroy())
    void firstBytes(socket).then((head) => {
      timer[Symbol.dispose]()
      judge(head)
    })
  })

  const serve = async (exchange: Exchange) => {
    try {
      await handle(exchange)
    } catch (error) {
      if (error instanceof Refusal) return await exchange.answerEarly(error.answer)
      if (error instanceof ConnectionClosed) return
      // A bug of the sandbox must not look like a fault that a test asked for.
      exchange.update({ code: `sandbox-bug: ${messageOf(error)}` })
      exchange.socket.destroy()
    } finally {
      journal.close(exchange.entry)
    }
  }
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(request.socket)
    if (connection === undefined) return
    const exchange = new Exchange({ connection, request, response }, options, closing.signal)
    const served = serve(exchange).finally(() => running.delete(served))
    running.add(served)
  })

  // The parser of node:http reports too few bytes, bytes after the body, or bytes that are not HTTP.
  server.on('clientError', (error, socket) => {
    const connection = connections.get(socket as Socket)
    const exchange = connection?.exchange
    if (errorCode(error) === 'HPE_INVALID_EOF_STATE' && exchange?.bodyEnd === null) {
      exchange.endBody('short')
      return
    }
    if (errorCode(error) === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const status = errorCode(error) === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
    const facts = { route: 'unparseable', status, code: errorCode(error) }
    journal.close(journal.open({ side, connection: connection?.n ?? 0, ...facts }))
    socket.end(rawHead(status, { connection: 'close' }, Buffer.alloc(0)), () => socket.destroy())
  })

  const { address, port } = await bind(server, options)
  const listensEverywhere = address === '0.0.0.0' || address === '::'
  const hostName = listensEverywhere
    ? '127.0.0.1'
    : address.includes(':')
      ? `[${address}]`
      : address
  const origin = `http://${hostName}:${port}`
  return {
    origin,
    originFor: (url) =>
      listensEverywhere ? `http://${URL.parse(url)?.hostname ?? hostName}:${port}` : origin,
    endConnections: (exchange) => {
      for (const socket of connections.keys()) {
        if (socket !== exchange?.socket) socket.destroy()
      }
    },
    [Symbol.asyncDispose]: async () => {
      closing.abort()
      const closed = server[Symbol.asyncDispose]()
      for (const socket of connections.keys()) socket.destroy()
      await closed
      await Promise.all(running)
    },
  }
}

/** bind makes a server listen on its port, saves the port in the database, and returns address and port. */
async function bind(server: Server, { side, host, port, database }: SideOptions) {
  const requestedPort = port || database.number(`port of ${side}`)
  await once(server.listen(requestedPort, host), 'listening').catch((error: unknown) => {
    const place = `${host}:${requestedPort || 'any port'}`
    throw new FeedsyncError(`the ${side} cannot listen on ${place}: ${messageOf(error)}`, {
      hint: 'stop the other program, or choose another --host, --port or --storage-port',
      exitCode: EXIT.temporary,
    })
  })
  const bound = server.address() as AddressInfo
  database.saveNumber(`port of ${side}`, bound.port)
  return bound
}

/**
 * firstBytes resolves with the first bytes of a connection: up to its first line break and what came with it, at most
 * about LONGEST_SCREENED bytes, or all bytes if the connection ends before. Then the socket is paused.
 */
function firstBytes(socket: Socket): Promise<Buffer> {
  return new Promise((resolve) => {
    let head: Buffer = Buffer.alloc(0)
    const done = () => {
      socket.off('data', onData)
      socket.pause()
      resolve(head)
    }
    const onData = (bytes: Buffer) => {
      head = Buffer.concat([head, bytes])
      if (head.includes('\r\n') || head.length > LONGEST_SCREENED) done()
    }
    socket.on('data', onData)
    socket.once('end', done)
    socket.once('close', done)
  })
}

function endConnection(socket: Socket, how: Cut): void {
  if (how === 'rst') {
    socket.resetAndDestroy()
    return
  }
  // Unread bytes would turn the FIN into an RST.
  socket.resume()
  socket.end(() => socket.destroy())
}
