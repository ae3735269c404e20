// Owns the translation of network errors into one small vocabulary, with a sentence for people. It never repeats
// the message of an error: it may hold an address with its query string or a proxy's password.

import { errorCode } from './errors.ts'

/**
 * `unreachable`: no connection, so nothing was sent. `certificate`: TLS refused the other side.
 * `proxy`: the proxy would not let us through. `lost`: the connection broke, or spoke no HTTP.
 * `silent`: no status line in time. `stalled`: the other side takes no more of the body. `source`: the body could not be read as promised. `aborted`: by the caller.
 */
export type NoAnswerKind =
  | 'unreachable'
  | 'certificate'
  | 'proxy'
  | 'lost'
  | 'silent'
  | 'stalled'
  | 'source'
  | 'aborted'

export interface NoAnswer {
  kind: 'no-answer'
  why: NoAnswerKind
  /** The system's code where there is one (`ECONNREFUSED`), otherwise a short name of ours (`body-source`). */
  code: string
  /** A clause for people: "api.example.com refused the connection (ECONNREFUSED)". */
  reason: string
  /** Bytes of the request's body that the socket has taken. */
  bytesSent: number
}

/** Of status 407. */
export const PROXY_REFUSAL =
  'the proxy wants a user name and password, or refuses those it was given (407)'

type Verdict = Pick<NoAnswer, 'why' | 'code' | 'reason'>

const UNREACHABLE: Record<string, string> = {
  ENOTFOUND: 'the name server does not know the host',
  EAI_AGAIN: 'the name server did not answer',
  ECONNREFUSED: 'the connection was refused',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
  EADDRNOTAVAIL: 'this machine has no address or port left to connect from',
  EMFILE: 'this process has too many open files',
}

const CERTIFICATE =
  /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|ERR_PROXY_TLS|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|CRL_)/

/** `host`: host and port of the target, for the sentence. */
export function explainNetworkError(error: unknown, host: string): Verdict {
  const code = errorCode(error)
  const { name = '', message = '' } = error instanceof Error ? error : {}
  const all = everyError(error)
  const peer = peerOf(all) ?? host
  const isConnect = all.some(({ syscall }) => syscall === 'connect')

  const told = (why: NoAnswerKind, ownCode: string, reason: string) => {
    return { why, code: ownCode, reason }
  }
  const tunnel = /Proxy response \((\d{3})\)|Proxy Authentication Required \((407)\)/.exec(message)
  if (tunnel !== null) {
    const status = tunnel[1] ?? tunnel[2]
    const other = `the proxy did not connect to ${host}: it answered ${status}`
    return told('proxy', `proxy-${status}`, status === '407' ? PROXY_REFUSAL : other)
  }
  if (name === 'ProxyConnectionError') {
    const reason = `the proxy closed the connection that was meant for ${host}`
    return told('proxy', 'proxy-closed', reason)
  }
  const certificate = all.map((one) => String(one.code)).find((one) => CERTIFICATE.test(one))
  if (certificate !== undefined) {
    const reason = `the TLS certificate of ${host} cannot be trusted (${certificate})`
    return told('certificate', certificate, reason)
  }
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || (code === 'ETIMEDOUT' && isConnect))
    return told('unreachable', 'connect-timeout', `${peer} did not accept a connection in time`)
  if (code !== null && code in UNREACHABLE)
    return told('unreachable', code, `${UNREACHABLE[code]}: ${peer} (${code})`)
  const isHandshake = message.includes('before secure TLS connection was established')
  if (isHandshake || /^(ERR_SSL_|EPROTO$)/.test(code ?? '')) {
    const reason = `the TLS handshake with ${host} did not succeed (${code ?? 'tls'})`
    return told('unreachable', code ?? 'tls', reason)
  }
  if (code === 'UND_ERR_HEADERS_TIMEOUT')
    return told('silent', 'answer-timeout', `${host} did not answer in time`)
  if (name === 'HTTPParserError' || code?.startsWith('HPE_'))
    return told('lost', 'bad-http', `${host} did not answer in valid HTTP`)
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return told('lost', 'bad-http', `${host} answered with oversized headers`)
  if (code === 'UND_ERR_SOCKET')
    return told('lost', 'connection-closed', `${host} closed the connection without an answer`)
  const reason = `the connection to ${peer} broke${code === null ? '' : ` (${code})`}`
  return told(isConnect ? 'unreachable' : 'lost', code ?? 'connection-lost', reason)
}

/** The host that the system call was about: behind a proxy that is the proxy, not the target. */
function peerOf(errors: readonly SystemError[]): string | null {
  for (const { hostname, address, port } of errors) {
    if (typeof hostname === 'string') return hostname
    if (typeof address === 'string')
      return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
  }
  return null
}

type SystemError = Partial<Record<'code' | 'syscall' | 'hostname' | 'address' | 'port', unknown>>

function everyError(error: unknown): SystemError[] {
  if (!(error instanceof Error)) return []
  const inner = error instanceof AggregateError ? error.errors : []
  return [error as SystemError, ...inner, ...everyError(error.cause)]
}
