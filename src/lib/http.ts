// Owns HTTP: the only importer of undici. One request gives one value: an answer, or the reason why there is none. It
// retries nothing and follows no redirect.
//
// The environment names the proxy, as operators expect: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in capital or small
// letters. Node itself reads NODE_EXTRA_CA_CERTS. No setting switches TLS verification off.

import { constants, gunzipSync } from 'node:zlib'
import { Agent, buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici'
import { type Clock, SECOND, unlessAborted } from './clock.ts'
import { EXIT, errorCode, FeedsyncError } from './errors.ts'
import {
  ATTEMPT_TIMEOUT_MS,
  CONNECT_TIMEOUT_MS,
  type ConnectLimits,
  hostAndPort,
  limitConnecting,
  TimedOut,
  TUNNEL_TIMEOUT_MS,
} from './http-connect.ts'
import { explainNetworkError, MAX_HEAD, type NoAnswer } from './http-errors.ts'
import { dropInterimAnswers } from './http-interim.ts'
import { CountedBody, type StreamBody, watchProgress } from './http-progress.ts'
import { readNoProxy } from './no-proxy.ts'
import { registerSecret } from './secrets.ts'
import { VERSION } from './version.ts'

export interface HttpRequest {
  method: string
  url: URL
  headers: Readonly<Record<string, string>>
  body: Buffer | StreamBody | null
  signal: AbortSignal
  /** Longest time in ms from the last byte that the socket took to the status line. */
  headersTimeoutMs: number
  /** Longest time in ms between two pieces of the answer's body. */
  bodyTimeoutMs: number
  /** Bytes of the answer's body that are kept; the rest is not read. */
  maxAnswerBytes: number
  /** Whether to open a new connection with a new DNS look-up, as for the request after a lost connection. */
  freshConnection?: boolean
}

export interface HttpReply {
  kind: 'answer'
  status: number
  /** The names are in lower case, and the values of a repeated header are joined by ", ". */
  headers: Readonly<Record<string, string>>
  body: Buffer
  /** Whether the answer's body is longer than `maxAnswerBytes`, or the connection broke before its end. */
  bodyCut: boolean
  bytesSent: number
  /** Whether the socket had taken the whole body of the request when the status line came. */
  sentAll: boolean
  /** Time from the call to the status line, in ms. */
  tookMs: number
}

export type HttpAnswer = HttpReply | NoAnswer

export interface HttpClient extends AsyncDisposable {
  /** request returns failures of the network, the other side and `signal` as values and never throws for them. */
  request(request: HttpRequest): Promise<HttpAnswer>
}

interface HttpClientOptions {
  clock: Clock
  /** The environment with the proxy variables. The default is the environment of this process. */
  env?: NodeJS.ProcessEnv
  /** Longest time in ms from a known address of a host to an open and, with TLS, verified connection. Default 20 s. */
  connectTimeoutMs?: number
  /** Longest time in ms until a proxy has connected to an https address. Default 90 s. */
  tunnelTimeoutMs?: number
}

/** The whole body of an answer, which is small, may take this many times `bodyTimeoutMs`. */
const MAX_BODY_TIMEOUTS = 10

/**
 * createHttpClient makes a client, and reads the proxy variables once. Throws `FeedsyncError` (78) if one of them does
 * not hold a usable address.
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { isDirect } = readNoProxy(options.env ?? process.env)
  const pooled = createAgents(options, 1)
  const single = createAgents(options, 0)
  return {
    request: (request) => {
      const { direct, proxied } = request.freshConnection ? single : pooled
      return send(isDirect(request.url) ? direct : proxied, request, options)
    },
    [Symbol.asyncDispose]: async () => {
      const all = [pooled, single].flatMap(({ direct, proxied }) => [direct, proxied])
      await Promise.all(all.map((agent) => agent.destroy()))
    },
  }
}

/**
 * createAgents returns the agents for hosts without a proxy, and for all others. With `pipelining` 0, each request
 * opens a new connection.
 */
function createAgents(options: HttpClientOptions, pipelining: 0 | 1) {
  const { clock, env = process.env, tunnelTimeoutMs = TUNNEL_TIMEOUT_MS } = options
  const { connectTimeoutMs: timeoutMs = CONNECT_TIMEOUT_MS } = options
  const limits = { clock, timeoutMs }
  const tls = {
    // Without this line, NODE_TLS_REJECT_UNAUTHORIZED could switch the verification off.
    rejectUnauthorized: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ATTEMPT_TIMEOUT_MS,
    // undici would count the look-up of the name, so http-connect.ts has the limits.
    timeout: 0,
  }
  const shared: Agent.Options = {
    allowH2: false,
    pipelining,
    keepAliveTimeout: 4 * SECOND,
    keepAliveMaxTimeout: 4 * SECOND,
    connect: tls,
    factory: (origin, opts) => createPool(origin, opts, limits),
  }
  const proxied = new EnvHttpProxyAgent({
    ...shared,
    clientFactory: (origin, opts) =>
      createPool(origin, { ...opts, headersTimeout: tunnelTimeoutMs }, limits),
    // In a tunnel there is no name to look up.
    requestTls: { ...tls, timeout: timeoutMs },
    proxyTls: tls,
    // An empty text means no proxy. For `undefined`, undici would read the environment of this process.
    httpProxy: proxyAddress(env, 'http_proxy'),
    httpsProxy: proxyAddress(env, 'https_proxy'),
    // undici knows no networks, so no-proxy.ts decides.
    noProxy: '',
  })
  return { direct: new Agent(shared), proxied }
}

/**
 * createPool does what undici's own factory does, and adds the limits of http-connect.ts and the filter for interim
 * answers. Behind a proxy, `connect` is a function of undici, otherwise our options.
 */
function createPool(origin: string | URL, options: Pool.Options, limits: ConnectLimits): Pool {
  const { connect } = options
  const open = typeof connect === 'function' ? connect : buildConnector({ ...connect })
  return new Pool(origin, {
    ...options,
    maxHeaderSize: MAX_HEAD,
    connect: (target, done) => {
      const opening: unknown = open(target, (...opened) => {
        limit[Symbol.dispose]()
        // With an error there is no socket, although the types promise one.
        if (opened[1]) dropInterimAnswers(opened[1])
        // Only the request to a proxy for a tunnel waits for an answer before the connection is open.
        if (errorCode(opened[0]) === 'UND_ERR_HEADERS_TIMEOUT')
          done(new TimedOut(hostAndPort(target), 'tunnel'), null)
        else done(...opened)
      })
      const limit = limitConnecting(opening, target, limits)
    },
  })
}

/**
 * proxyAddress returns the proxy that a variable names, or an empty text, and registers its credentials as secrets.
 * Throws `FeedsyncError` (78) for an address that cannot be used.
 */
function proxyAddress(env: NodeJS.ProcessEnv, name: string): string {
  const value = env[name] ?? env[name.toUpperCase()] ?? ''
  if (value === '') return ''
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`
  const url = URL.parse(address)
  if (url !== null && /^https?:/i.test(address) && isDecodable(url.username + url.password)) {
    registerCredentials(url)
    return address
  }
  throw new FeedsyncError(`${name.toUpperCase()} does not hold a usable proxy address`, {
    hint: 'write it as http://host:port, with user:password@ before the host if the proxy wants one, and a % in either as %25',
    exitCode: EXIT.config,
  })
}

/** isDecodable returns whether undici can decode the text: undici throws at a % that begins no escape. */
function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== null
  } catch {
    return false
  }
}

/**
 * registerCredentials registers the password of a proxy as a secret, as it is written and as it is sent. A user name
 * without a password can be a token, so it is a secret as well.
 */
function registerCredentials({ username, password }: URL): void {
  const [plainName, plainPassword] = [username, password].map(decodeURIComponent)
  if (plainPassword) registerSecret(`${plainName}:${plainPassword}`)
  for (const secret of password === '' ? [username, plainName] : [password, plainPassword])
    if (secret) registerSecret(secret)
}

async function send(
  agent: Dispatcher,
  request: HttpRequest,
  { clock }: HttpClientOptions,
): Promise<HttpAnswer> {
  const { url, signal, body } = request
  const began = clock.monotonic()
  const counted = body === null || Buffer.isBuffer(body) ? null : new CountedBody(body, clock)
  using watch = counted && watchProgress(clock, counted, request.headersTimeoutMs)
  const ends = watch === null ? signal : AbortSignal.any([signal, watch.signal])
  const bytesSent = () => counted?.bytes ?? (body as Buffer | null)?.length ?? 0
  try {
    const responding = agent.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: request.method as Dispatcher.HttpMethod,
      headers: {
        'user-agent': `feedsyncd/${VERSION}`,
        ...request.headers,
        ...(counted === null ? {} : { 'content-length': String(counted.length) }),
      },
      // undici accepts any async iterable, but its types name only some classes.
      body: (counted ?? body) as Buffer | null,
      signal: ends,
      // undici's own limit counts from the start of the request and would end a slow upload.
      headersTimeout: watch === null ? request.headersTimeoutMs : 0,
      bodyTimeout: request.bodyTimeoutMs,
    })
    // undici checks the signal only after it is connected, and a proxy can delay that for ever.
    const response = await unlessAborted(responding, ends)
    if (response === null) throw ends.reason
    watch?.[Symbol.dispose]()
    const sentAll = counted?.sentAll ?? true
    const tookMs = clock.monotonic() - began
    const headers = flatten(response.headers)
    using _limit = clock.after(MAX_BODY_TIMEOUTS * request.bodyTimeoutMs, () =>
      response.body.destroy(),
    )
    const read = await readCapped(response.body, request.maxAnswerBytes)
    const answer = { ...read, body: unpacked(read.body, headers, request.maxAnswerBytes) }
    const status = response.statusCode
    return { kind: 'answer', status, headers, ...answer, bytesSent: bytesSent(), sentAll, tookMs }
  } catch (error) {
    const none = (verdict: Omit<NoAnswer, 'kind' | 'bytesSent'>): NoAnswer => {
      return { kind: 'no-answer', bytesSent: bytesSent(), ...verdict }
    }
    if (signal.aborted)
      return none({ why: 'aborted', code: 'aborted', reason: 'the request was stopped' })
    if (watch?.signal.aborted) return none(watch.explain(url.host))
    const failure = counted?.error ?? null
    if (failure !== null || isLengthMismatch(error)) {
      const reason = 'the body could not be read as announced'
      return none({ why: 'source', code: errorCode(failure) ?? 'body-source', reason })
    }
    const verdict = explainNetworkError(error, url.host)
    const mightBeSent = counted !== null || ['lost', 'silent', 'unreadable'].includes(verdict.why)
    return { ...none(verdict), bytesSent: mightBeSent ? bytesSent() : 0 }
  }
}

function isLengthMismatch(error: unknown): boolean {
  return error instanceof Error && error.name === 'RequestContentLengthMismatchError'
}

/**
 * readCapped keeps at most `limit` bytes of a body. The status is known already, so a body that is cut is part of the
 * answer and not a failure.
 */
async function readCapped(
  stream: AsyncIterable<Buffer>,
  limit: number,
): Promise<{ body: Buffer; bodyCut: boolean }> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of stream) {
      chunks.push(chunk.subarray(0, limit - length))
      length += chunk.length
      if (length > limit) return { body: Buffer.concat(chunks), bodyCut: true }
    }
    return { body: Buffer.concat(chunks), bodyCut: false }
  } catch {
    return { body: Buffer.concat(chunks), bodyCut: true }
  }
}

/** unpacked undoes gzip, which some proxies add unasked. A body that would exceed the limit stays packed. */
function unpacked(body: Buffer, headers: HttpReply['headers'], limit: number): Buffer {
  if (headers['content-encoding']?.toLowerCase() !== 'gzip') return body
  try {
    // Z_SYNC_FLUSH returns the readable part of a cut body.
    return gunzipSync(body, { maxOutputLength: limit, finishFlush: constants.Z_SYNC_FLUSH })
  } catch {
    return body
  }
}

/** flatten joins the values of each repeated header. */
function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]),
  )
}
