// Translates network errors into a few kinds, each with a sentence for people. It never repeats the message of an
// error, which can contain an address with its query string or the password of a proxy.

import { Resolver } from 'node:dns'
import { SECOND } from './clock.ts'
import { errorCode } from './errors.ts'
import { LOOKUP_TIMEOUT_MS, TimedOut } from './http-connect.ts'
import { formatBytes } from './units.ts'

export type NoAnswerKind =
  /** There was no connection, so nothing was sent. */
  | 'unreachable'
  /** The certificate of the other side is not trusted. */
  | 'certificate'
  /** The proxy refused the request, or did not connect in time. */
  | 'proxy'
  /** The connection broke. */
  | 'lost'
  /** An answer came that is not HTTP as Node reads it. */
  | 'unreadable'
  /** No status line came in time. */
  | 'silent'
  /** The other side stopped taking the body. */
  | 'stalled'
  /** The body could not be read with its announced length. */
  | 'source'
  /** The caller stopped the request. */
  | 'aborted'

export interface NoAnswer {
  kind: 'no-answer'
  why: NoAnswerKind
  /** The system's code if there is one (`ECONNREFUSED`), otherwise our own short name (`body-source`). */
  code: string
  /** A clause for people: "api.example.com refused the connection (ECONNREFUSED)". */
  reason: string
  /** Bytes of the request's body that the socket took. */
  bytesSent: number
}

/** MAX_HEAD, in bytes, limits the head of an answer. Some proxies set more cookies than Node's 16 KiB. */
export const MAX_HEAD = 256 * 1024

/** The reason for status 407. */
export const PROXY_REFUSAL =
  'the proxy requires a user name and a password, or refused the given ones (407)'

type Explained = Pick<NoAnswer, 'why' | 'code' | 'reason'>

const UNREACHABLE: Record<string, string> = {
  ENOTFOUND: 'the name server does not know the host',
  ECONNREFUSED: 'the connection was refused',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
  EADDRNOTAVAIL: 'this machine has no address or port left to connect from',
  EMFILE: 'this process has too many open files',
}

const CERTIFICATE =
  /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|ERR_PROXY_TLS|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|CRL_)/

/** explainProxyError explains why a proxy opened no tunnel to the host; null for any other error. */
function explainProxyError({ name, message }: Error, host: string): Explained | null {
  const tunnel = /Proxy response \((\d{3})\)|Proxy Authentication Required \((407)\)/.exec(message)
  if (tunnel !== null) {
    const status = tunnel[1] ?? tunnel[2]
    const other = `the proxy did not connect to ${host}: it answered ${status}`
    return verdict('proxy', `proxy-${status}`, status === '407' ? PROXY_REFUSAL : other)
  }
  if (name !== 'ProxyConnectionError') return null
  return verdict('proxy', 'proxy-closed', `the proxy closed the connection to ${host}`)
}

/** explainNetworkError names the kind and the reason of an error; `host` is host and port of the target. */
export function explainNetworkError(error: unknown, host: string): Explained {
  const code = errorCode(error)
  const { name = '', message = '' } = error instanceof Error ? error : {}
  const errors = everyError(error)
  const peer = peerOf(errors) ?? host
  const isConnect = errors.some(({ syscall }) => syscall === 'connect')
  const ofProxy = explainProxyError({ name, message }, host)
  if (ofProxy !== null) return ofProxy
  const certificate = errors.map((one) => String(one.code)).find((one) => CERTIFICATE.test(one))
  if (certificate !== undefined) {
    const reason = `the TLS certificate of ${host} cannot be trusted (${certificate})`
    return verdict('certificate', certificate, reason)
  }
  const late = errors.find((one) => one instanceof TimedOut)
  if (late !== undefined) return explainTimeout(late)
  if (code === 'EAI_AGAIN')
    return verdict('unreachable', code, `${noAddress(peer)} (${code}; ${askedServers()})`)
  const refusals = refusalsOf(errors)
  const several =
    refusals.length > 1 ? `no address accepted a connection: ${refusals.join(', ')}` : null
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || (code === 'ETIMEDOUT' && isConnect))
    return verdict('unreachable', 'connect-timeout', several ?? notAccepted(peer))
  if (code !== null && code in UNREACHABLE)
    return verdict('unreachable', code, several ?? `${UNREACHABLE[code]}: ${peer} (${code})`)
  const isHandshake = message.includes('before secure TLS connection was established')
  if (isHandshake || /^(ERR_SSL_|EPROTO$)/.test(code ?? '')) {
    const reason = `the TLS handshake with ${host} did not succeed (${code ?? 'tls'})`
    return verdict('unreachable', code ?? 'tls', reason)
  }
  if (code === 'UND_ERR_HEADERS_TIMEOUT')
    return verdict('silent', 'answer-timeout', `${host} did not answer in time`)
  const unreadable = whyUnreadable({ name, message }, code)
  if (unreadable !== null)
    return verdict('unreadable', 'unreadable-answer', `the answer cannot be read (${unreadable})`)
  if (code === 'UND_ERR_SOCKET')
    return verdict('lost', 'connection-closed', `${host} closed the connection without an answer`)
  const reason = `the connection to ${peer} broke${code === null ? '' : ` (${code})`}`
  return verdict(isConnect ? 'unreachable' : 'lost', code ?? 'connection-lost', reason)
}

function verdict(why: NoAnswerKind, code: string, reason: string): Explained {
  return { why, code, reason }
}

function explainTimeout({ peer, step }: TimedOut): Explained {
  switch (step) {
    case 'look-up': {
      const limit = `within ${LOOKUP_TIMEOUT_MS / SECOND} s`
      const reason = `${noAddress(peer)} ${limit} (${askedServers()})`
      return verdict('unreachable', 'lookup-timeout', reason)
    }
    case 'connect':
      return verdict('unreachable', 'connect-timeout', notAccepted(peer))
    case 'handshake': {
      const reason = `${peer} accepted a connection, and did not finish the TLS handshake`
      return verdict('unreachable', 'handshake-timeout', reason)
    }
    case 'tunnel':
      return verdict('proxy', 'proxy-timeout', `the proxy did not connect to ${peer} in time`)
    default:
      return step satisfies never
  }
}

const notAccepted = (peer: string) => `${peer} did not accept a connection in time`
const noAddress = (host: string) => `the name server gave no address of ${host}`

/** askedServers names the servers that the system asks: the first three of /etc/resolv.conf, one after another. */
function askedServers(): string {
  return `asked: ${new Resolver().getServers().slice(0, 3).join(', ')}`
}

/**
 * whyUnreadable returns what of an answer cannot be read; null for any other error. The words in brackets are the
 * parser's own, and repeat nothing of the answer. If the answer has a Content-Length, undici reports every error of its
 * parser as a wrong length.
 */
function whyUnreadable({ name, message }: Error, code: string | null) {
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return `its headers have more than ${formatBytes(MAX_HEAD)}`
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return 'it is not valid HTTP'
  if (name !== 'HTTPParserError') return null
  return /\((.+)\)$/.exec(message)?.[1] ?? 'it is not valid HTTP'
}

/** noAnswerText says that `who` gave no answer that can be read, and why. */
export function noAnswerText(who: string, { reason, why }: NoAnswer): string {
  return why === 'unreadable'
    ? `${who} answered, and ${reason}`
    : `no answer from ${who}: ${reason}`
}

/** refusalsOf returns each address that refused a connection, with the error: `192.0.2.1:443 (ECONNREFUSED)`. */
function refusalsOf(errors: readonly SystemError[]): string[] {
  const attempts = errors.filter(({ address, syscall }) => syscall === 'connect' && address)
  return [...new Set(attempts.map((one) => `${peerOf([one])} (${one.code})`))]
}

/** peerOf returns the host of the failed system call, which can be a proxy; null if no error names a host. */
function peerOf(errors: readonly SystemError[]): string | null {
  for (const { hostname, address, port } of errors) {
    if (typeof hostname === 'string') return hostname
    if (typeof address === 'string')
      return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
  }
  return null
}

type SystemError = Partial<Record<'code' | 'syscall' | 'hostname' | 'address' | 'port', unknown>>

/** everyError returns the error, the errors that it joins, and its causes. */
function everyError(error: unknown): SystemError[] {
  if (!(error instanceof Error)) return []
  const inner = error instanceof AggregateError ? error.errors : []
  return [error as SystemError, ...inner, ...everyError(error.cause)]
}
