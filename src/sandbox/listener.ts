// A listener accepts and counts the connections of one side, passes each request to that side, and always closes the
// entry in the journal. Service and storage have a listener each, like two real hosts.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { EXIT, errorCode, FeedsyncError, messageOf } from '../lib/errors.ts'
import { Refusal } from './answer.ts'
import {
  type Connection,
  ConnectionClosed,
  Exchange,
  rawHead,
  type SideOptions,
} from './exchange.ts'
import { ruleOf } from './faults.ts'

export async function listen(options: SideOptions) {
  const { side, journal, faults, handle } = options
  const connections = new Map<Socket, Connection>()
  const running = new Set<Promise<void>>()
  const closing = new AbortController()
  let accepted = 0
  // The time limits of node:http would answer before those of the sandbox, so they are off.
  const server = createServer({ requestTimeout: 0, headersTimeout: 0 })

  server.on('connection', (socket: Socket) => {
    const subject = { route: 'connect', account: null, key: null, reused: false }
    const refusal = ruleOf(faults.choose(side, 'connect', subject), 'refuse')
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    connections.set(socket, { n: ++accepted, closed, exchange: null })
    socket.on('error', () => socket.destroy())
    socket.once('close', () => {
      connections.delete(socket)
      resolve()
    })
    if (refusal?.how === 'rst') socket.resetAndDestroy()
    if (refusal?.how === 'fin') socket.destroy()
  })

  const serve = async (exchange: Exchange) => {
    try {
      await handle(exchange)
    } catch (error) {
      if (error instanceof Refusal) return await exchange.answerEarly(error.answer)
      if (error instanceof ConnectionClosed) return
      // A bug of the sandbox must not look like a fault that a test asked for.
      exchange.note({ code: `sandbox-bug: ${messageOf(error)}` })
      exchange.socket.destroy()
    } finally {
      journal.close(exchange.entry)
    }
  }
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(request.socket)
    if (connection === undefined) return
    const exchange = new Exchange(options, connection, request, response, closing.signal)
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
    const facts = { route: 'unparseable', status: 400, code: errorCode(error) }
    journal.close(journal.open({ side, connection: connection?.n ?? 0, ...facts }))
    socket.end(rawHead(400, { connection: 'close' }, Buffer.alloc(0)), () => socket.destroy())
  })

  const requestedPort = options.port || options.database.port(side)
  await once(server.listen(requestedPort, options.host), 'listening').catch((error: unknown) => {
    const place = `${options.host}:${requestedPort || 'any port'}`
    throw new FeedsyncError(`the ${side} cannot listen on ${place}: ${messageOf(error)}`, {
      hint: 'stop the other program, or choose another --host, --port or --storage-port',
      exitCode: EXIT.temporary,
    })
  })
  const { address, port } = server.address() as AddressInfo
  options.database.savePort(side, port)
  const listensEverywhere = address === '0.0.0.0' || address === '::'
  const hostName = listensEverywhere
    ? '127.0.0.1'
    : address.includes(':')
      ? `[${address}]`
      : address
  const origin = `http://${hostName}:${port}`
  return {
    /** origin is an address such as `http://127.0.0.1:41234`. */
    origin,
    /**
     * originFor returns the origin of this side for a client that called `url` on the other side. If both listen on
     * every address, the origin has the host name of that `url`.
     */
    originFor: (url: string) =>
      listensEverywhere ? `http://${URL.parse(url)?.hostname ?? hostName}:${port}` : origin,
    [Symbol.asyncDispose]: async () => {
      closing.abort()
      const closed = server[Symbol.asyncDispose]()
      for (const socket of connections.keys()) socket.destroy()
      await closed
      await Promise.all(running)
    },
  }
}
