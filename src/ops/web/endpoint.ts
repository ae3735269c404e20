// The endpoint for probes, Prometheus and people: it reads and never changes anything. It has no accounts,
// so it belongs on loopback or on a unix socket; names of other hosts are refused there, or a web page
// could read it through a name that its own server points here.

import { once } from 'node:events'
import { chmodSync, lstatSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { type Clock, MINUTE, SECOND } from '../../lib/clock.ts'
import { EXIT, errorCode, FeedsyncError, messageOf } from '../../lib/errors.ts'
import { isLoopback } from '../../lib/http-text.ts'
import type { Log } from '../../lib/log.ts'
import { printableJson } from '../../lib/printable.ts'
import { CONTENT_TYPE } from '../metrics/metrics.ts'
import type { Listen } from '../port.ts'
import { feedPage, versionPage } from './feed-pages.ts'
import { statusPage } from './page.ts'
import { missingPage } from './page-parts.ts'
import { POLICY } from './page-style.ts'
import type { EndpointSource } from './source.ts'

export interface EndpointOptions {
  listen: Listen
  source: EndpointSource
  clock: Clock
  log: Log
}

export interface Endpoint extends AsyncDisposable {
  /** `http://127.0.0.1:9464`, or the path of the socket. */
  readonly address: string
}

interface Answer {
  status: number
  type: string
  body: string
}

const HTML = 'text/html; charset=utf-8'
const TEXT = 'text/plain; charset=utf-8'
/** A loop that has not turned for so long hangs: a listing of 100,000 files takes seconds. */
const HUNG_MS = 5 * MINUTE
const CLIENT_TIMEOUT = 10 * SECOND
const TIMEOUT_CHECK_INTERVAL = 2 * SECOND
const MOST_CONNECTIONS = 64
const MOST_VERSIONS = 60

/** @throws FeedsyncError (75) when the address cannot be listened on. */
export async function openEndpoint(options: EndpointOptions): Promise<Endpoint> {
  const { listen, log } = options
  const server = createServer({
    headersTimeout: CLIENT_TIMEOUT,
    requestTimeout: CLIENT_TIMEOUT,
    keepAliveTimeout: CLIENT_TIMEOUT,
    // How often Node looks whether one of these is over: 30 s otherwise.
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL,
    maxHeaderSize: 8192,
  })
  limitConnections(server)
  server.on('request', (request, response) => void serve(request, response, options))
  await listening(server, listen)
  server.on('error', (error) =>
    log.warn({ event: 'endpoint.error', problem: messageOf(error) }, 'endpoint'),
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

/** Whoever comes finds a place: the oldest connection that asks nothing goes, or else the oldest of all. */
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

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  options: EndpointOptions,
): Promise<void> {
  const { status, type, body } = await answer(request, options)
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

async function answer(request: IncomingMessage, options: EndpointOptions): Promise<Answer> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return text(405, 'only GET and HEAD')
  if (!isOurName(request.headers.host, options.listen)) {
    return text(421, 'ask for this endpoint by its own address')
  }
  try {
    const url = URL.parse(request.url ?? '/', 'http://localhost')
    return url === null ? text(400, 'the path cannot be read') : await route(url, options)
  } catch (error) {
    options.log.warn(
      { event: 'endpoint.no-answer', problem: messageOf(error) },
      'endpoint could not answer',
    )
    return text(503, messageOf(error))
  }
}

async function route(
  { pathname, searchParams }: URL,
  { source, clock }: EndpointOptions,
): Promise<Answer> {
  const parameter = (name: string) => searchParams.get(name) ?? ''
  const context = { ...source, now: clock.now() }
  switch (pathname) {
    case '/':
      return html(statusPage(context, searchParams))
    case '/feed': {
      const feed = parameter('name')
      const versions = source.versions(feed, MOST_VERSIONS)
      const id = source.history.newest(feed)?.id
      const newest = versions.find((one) => one.id === id) ?? versions[0]
      if (newest === undefined) return html(missingPage(feed, context), 404)
      return html(feedPage(newest, versions, MOST_VERSIONS, context))
    }
    case '/version': {
      const id = parameter('id')
      const version = source.version(Number(id))
      if (version === null) return html(missingPage(`version ${id}`, context), 404)
      return html(versionPage(version, context))
    }
    case '/healthz':
      return probe(liveness(source))
    case '/readyz':
      return probe(liveness(source) ?? readiness(source))
    case '/metrics':
      return { status: 200, type: CONTENT_TYPE, body: await source.metrics() }
    case '/api/status': {
      const body = printableJson(JSON.stringify({ schemaVersion: 1, ...source.status() }))
      return { status: 200, type: 'application/json', body }
    }
    default:
      return text(404, 'there are /, /healthz, /readyz, /metrics and /api/status')
  }
}

/** Why a restart may help: the loop hangs; null: it turns. Asking SQLite shows that it answers; what it throws is a 503. */
function liveness(source: EndpointSource): string | null {
  source.history.count()
  const { sinceRoundMs } = source.pulse()
  return sinceRoundMs > HUNG_MS
    ? `the loop has not turned for ${Math.round(sinceRoundMs / SECOND)} s`
    : null
}

/** Why feeds are not taken or not sent now; null: they are. An unreachable service is no reason: it is waited for. */
function readiness(source: EndpointSource): string | null {
  const { stage, conditions } = source.pulse()
  if (stage !== 'running') return stage
  const critical = conditions.filter(({ severity }) => severity === 'critical')
  if (critical.length > 0) return critical.map(({ message }) => message).join('\n')
  return source.daemon().lastScanAt === null ? 'the folder was not listed yet' : null
}

const probe = (problem: string | null) => text(problem === null ? 200 : 503, problem ?? 'ok')
const text = (status: number, body: string): Answer => ({ status, type: TEXT, body: `${body}\n` })
const html = (body: string, status = 200): Answer => ({ status, type: HTML, body })

async function listening(server: Server, listen: Listen): Promise<void> {
  const { kind: _, ...where } = listen
  try {
    if (listen.kind === 'unix') await removeStaleSocket(listen.path)
    server.listen(where)
    await once(server, 'listening')
    // Whoever may pass the folder and is of the group: the unit's umask would leave it to us alone.
    if (listen.kind === 'unix') chmodSync(listen.path, 0o660)
  } catch (cause) {
    const shown = listen.kind === 'unix' ? listen.path : `${listen.host}:${listen.port}`
    throw new FeedsyncError(`http.listen ${shown} cannot be used: ${messageOf(cause)}`, {
      hint: 'check what listens there (ss -ltnxp), or set http.listen to another address, or to "" for none',
      exitCode: EXIT.temporary,
      cause,
    })
  }
}

/** Takes away a socket that a killed daemon left behind, which has nobody at its other end, and nothing else. */
async function removeStaleSocket(path: string): Promise<void> {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return
  // Connecting to a file is refused as well.
  if (!stats.isSocket()) throw new Error(`${path} is no socket`)
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

function isOurName(host: string | undefined, listen: Listen): boolean {
  if (listen.kind === 'unix' || !isLoopback({ hostname: listen.host })) return true
  const name = host?.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
  return name !== undefined && (isLoopback({ hostname: name }) || name === listen.host)
}
