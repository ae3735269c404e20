// The HTTP endpoint for probes, Prometheus and people. It only reads. It has no login, so it belongs on loopback or on
// a unix socket. On loopback it refuses the names of other hosts: otherwise a web page could read it by DNS rebinding.

import { once } from 'node:events'
import { chmodSync, lstatSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { type Clock, SECOND } from '../../lib/clock.ts'
import { EXIT, errorCode, FeedsyncError, messageOf } from '../../lib/errors.ts'
import type { Listen } from '../../lib/http-text.ts'
import { isLoopback } from '../../lib/http-text.ts'
import type { Log } from '../../lib/log.ts'
import { printableJson } from '../../lib/printable.ts'
import { CONTENT_TYPE } from '../metrics/metrics.ts'
import { problemReport } from '../problems.ts'
import { MOST_BARS } from './difference-section.ts'
import { feedPage, versionPage } from './feed-pages.ts'
import { statusPage } from './page.ts'
import { missingPage } from './page-parts.ts'
import { POLICY } from './page-style.ts'
import { whyNotAlive, whyNotReady } from './probes.ts'
import type { EndpointSource } from './source.ts'

export interface Endpoint extends AsyncDisposable {
  /** Address such as `http://127.0.0.1:9464`, or the path of the socket. */
  readonly address: string
}

interface EndpointAnswer {
  status: number
  type: string
  body: string
}

const HTML = 'text/html; charset=utf-8'
const TEXT = 'text/plain; charset=utf-8'
const CLIENT_TIMEOUT = 10 * SECOND
const TIMEOUT_CHECK_INTERVAL = 2 * SECOND
const MOST_CONNECTIONS = 64
const MOST_VERSIONS = 60

/** openEndpoint listens and serves. It throws FeedsyncError (75) if it cannot listen on the address. */
export async function openEndpoint({
  clock,
  listen,
  log,
  source,
}: {
  clock: Clock
  listen: Listen
  log: Log
  source: EndpointSource
}): Promise<Endpoint> {
  const server = createServer({
    headersTimeout: CLIENT_TIMEOUT,
    requestTimeout: CLIENT_TIMEOUT,
    keepAliveTimeout: CLIENT_TIMEOUT,
    // How often Node checks these timeouts; its default is 30 s.
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL,
    maxHeaderSize: 8192,
  })
  limitConnections(server)
  server.on('request', async (request, response) => {
    const refusal = refusalOf(request, listen)
    respond(response, refusal ?? (await answer(request.url ?? '/', { clock, log, source })))
  })
  await startListening(server, listen)
  server.on('error', (error) =>
    log.warn({ event: 'endpoint.error', problem: messageOf(error) }, 'the endpoint had an error'),
  )
  const address = addressOf(server)
  log.info({ event: 'endpoint.open', address }, 'endpoint open')
  if (listen.kind === 'tcp' && !isLoopback({ hostname: listen.host })) {
    log.warn(
      { event: 'endpoint.exposed', address },
      'the endpoint is open to other hosts, without a login',
    )
  }
  return {
    address,
    [Symbol.asyncDispose]: async () => {
      const closed = server[Symbol.asyncDispose]()
      server.closeAllConnections()
      await closed
    },
  }
}

/**
 * limitConnections closes a connection when more than 64 are open: the oldest connection without a request, or else the
 * oldest connection.
 */
function limitConnections(server: Server): void {
  const open = new Set<Socket>()
  const asking = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    if (open.size <= MOST_CONNECTIONS) return
    const [oldest] = open
    const idle = open.values().find((each) => each !== socket && !asking.has(each))
    ;(idle ?? oldest)?.destroy()
  })
  server.on('request', ({ socket }, response) => {
    asking.add(socket)
    response.once('close', () => asking.delete(socket))
  })
}

function respond(response: ServerResponse, { body, status, type }: EndpointAnswer): void {
  const bytes = Buffer.from(body)
  response.writeHead(status, {
    'content-type': type,
    'content-length': bytes.length,
    'cache-control': 'no-store',
    'content-security-policy': POLICY,
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    ...(status === 405 && { allow: 'GET, HEAD' }),
  })
  response.end(bytes)
}

function refusalOf({ headers, method }: IncomingMessage, listen: Listen): EndpointAnswer | null {
  if (method !== 'GET' && method !== 'HEAD') return text(405, 'only GET and HEAD are allowed')
  return isOurName(headers.host, listen)
    ? null
    : text(421, 'this endpoint answers only to its own host name')
}

async function answer(
  path: string,
  { clock, log, source }: { clock: Clock; log: Log; source: EndpointSource },
): Promise<EndpointAnswer> {
  try {
    const url = URL.parse(path, 'http://localhost')
    return url === null ? text(400, 'the path is not valid') : await route(url, source, clock.now())
  } catch (error) {
    log.warn(
      { event: 'endpoint.no-answer', problem: messageOf(error) },
      'the endpoint could not answer',
    )
    return text(503, messageOf(error))
  }
}

async function route(
  { pathname, searchParams }: URL,
  source: EndpointSource,
  now: number,
): Promise<EndpointAnswer> {
  const parameter = (name: string) => searchParams.get(name) ?? ''
  const context = { ...source, now }
  switch (pathname) {
    case '/':
      return html(statusPage(context, searchParams))
    case '/feed': {
      const feed = parameter('name')
      const versions = source.versions(feed, MOST_VERSIONS)
      const id = source.history.newest(feed)?.id
      const newest = versions.find((one) => one.id === id) ?? versions[0]
      if (newest === undefined) return html(missingPage(feed, context), 404)
      return html(feedPage({ newest, versions, most: MOST_VERSIONS }, context))
    }
    case '/version': {
      const id = parameter('id')
      const version = source.version(Number(id))
      if (version === null) return html(missingPage(`version ${id}`, context), 404)
      const isDrawn = version.state === 'held' && version.difference?.summary != null
      const versions = isDrawn ? source.versions(version.feed, MOST_BARS + 1) : []
      return html(versionPage(version, context, versions))
    }
    case '/healthz':
      return probe(whyNotAlive(source))
    case '/readyz':
      return probe(whyNotAlive(source) ?? whyNotReady(source))
    case '/metrics':
      return { status: 200, type: CONTENT_TYPE, body: await source.metrics() }
    case '/api/status': {
      const status = source.status()
      const shown = { ...status, problems: status.problems.map(problemReport) }
      const body = printableJson(JSON.stringify({ schemaVersion: 1, ...shown }))
      return { status: 200, type: 'application/json', body }
    }
    default:
      return text(404, 'not found; the paths are /, /healthz, /readyz, /metrics and /api/status')
  }
}

const probe = (reason: string | null) => text(reason === null ? 200 : 503, reason ?? 'ok')
const text = (status: number, body: string): EndpointAnswer => ({
  status,
  type: TEXT,
  body: `${body}\n`,
})
const html = (body: string, status = 200): EndpointAnswer => ({ status, type: HTML, body })

/** startListening removes the socket of a killed daemon, listens, and lets the group connect to a socket. */
async function startListening(server: Server, listen: Listen): Promise<void> {
  const { kind: _, ...where } = listen
  try {
    if (listen.kind === 'unix') await removeStaleSocket(listen.path)
    server.listen(where)
    await once(server, 'listening')
    // Members of the group may connect. With the unit's umask only the daemon's own user could.
    if (listen.kind === 'unix') chmodSync(listen.path, 0o660)
  } catch (cause) {
    const shown = listen.kind === 'unix' ? listen.path : `${listen.host}:${listen.port}`
    throw new FeedsyncError(`http.listen ${shown} cannot be used: ${messageOf(cause)}`, {
      hint: 'set http.listen to another address or to "" (off), or find what listens there: ss -ltnxp',
      exitCode: EXIT.temporary,
      cause,
    })
  }
}

/**
 * removeStaleSocket deletes the socket of a killed daemon. It leaves a socket that still has a listener, and throws if
 * another kind of file is at the path.
 */
async function removeStaleSocket(path: string): Promise<void> {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return
  // A connection to a regular file is refused too, so the type must be checked first.
  if (!stats.isSocket()) throw new Error(`${path} is not a socket`)
  const socket = connect(path)
  try {
    await once(socket, 'connect')
  } catch (error) {
    if (errorCode(error) === 'ECONNREFUSED') rmSync(path)
  } finally {
    socket.destroy()
  }
}

function addressOf(server: Server): string {
  const bound = server.address()
  if (bound === null || typeof bound === 'string') return bound ?? ''
  const host = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address
  return `http://${host}:${bound.port}`
}

/**
 * isOurName returns whether the Host header names this endpoint. On a unix socket or an address that is not loopback,
 * any name will do.
 */
function isOurName(host: string | undefined, listen: Listen): boolean {
  if (listen.kind === 'unix' || !isLoopback({ hostname: listen.host })) return true
  const name = host?.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
  return name !== undefined && (isLoopback({ hostname: name }) || name === listen.host)
}
