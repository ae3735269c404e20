// Limits how long a connection may take to open. The look-up of the name has a limit of its own, because a name server
// that is down can delay the system for many seconds before it asks the next one, and the host cannot change that.

import { isIP, Socket } from 'node:net'
import { type Clock, MINUTE, SECOND } from './clock.ts'

/** LOOKUP_TIMEOUT_MS limits a look-up of a name: the system gives each name server 5 s, twice, for each search name. */
export const LOOKUP_TIMEOUT_MS = MINUTE

/**
 * CONNECT_TIMEOUT_MS limits the TCP and TLS handshakes to all addresses of a host together. They need up to four round
 * trips, and over a satellite each takes 0.7 s. A lost packet adds 1 s. Each address that does not answer adds
 * ATTEMPT_TIMEOUT_MS.
 */
export const CONNECT_TIMEOUT_MS = 20 * SECOND

/**
 * ATTEMPT_TIMEOUT_MS is how long an address may take before the next one is tried. Node's default of 250 ms is shorter
 * than the way to another continent and back.
 */
export const ATTEMPT_TIMEOUT_MS = 2 * SECOND

/**
 * TUNNEL_TIMEOUT_MS limits a proxy's answer to CONNECT. The proxy looks up the name and connects. If it cannot connect,
 * most proxies give up after a minute, and the answer then says why.
 */
export const TUNNEL_TIMEOUT_MS = 90 * SECOND

/** TimedOut is the error of a connection that did not open in time. */
export class TimedOut extends Error {
  /** The host or proxy that was not reached in time: a name in the step `look-up`, otherwise host and port. */
  readonly peer: string
  readonly step: 'look-up' | 'connect' | 'handshake' | 'tunnel'

  constructor(peer: string, step: TimedOut['step']) {
    super(`timeout of the ${step}`)
    this.peer = peer
    this.step = step
  }
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

export interface ConnectLimits {
  clock: Clock
  /** Longest time in ms from the known address of the host to an open connection. */
  timeoutMs: number
}

/** Target is the other end of a connection. */
export type Target = Readonly<Record<'hostname' | 'port' | 'protocol', string>>

/** portOf returns the port of a target, or the usual one of its protocol. */
export function portOf({ port, protocol }: Pick<Target, 'port' | 'protocol'>): number {
  return Number(port || DEFAULT_PORTS[protocol])
}

/** hostAndPort returns host and port of a target, as in an address. */
export function hostAndPort(target: Target): string {
  const { hostname } = target
  return `${isIP(hostname) === 6 ? `[${hostname}]` : hostname}:${portOf(target)}`
}

/**
 * limitConnecting destroys a connection that does not open in time. `opening` is what a connector of undici returned: a
 * socket, or a promise if the connection goes through a tunnel, which is not limited here. Dispose of the answer when
 * the connection is open.
 */
export function limitConnecting(
  opening: unknown,
  target: Target,
  { clock, timeoutMs }: ConnectLimits,
): Disposable {
  if (!(opening instanceof Socket)) return { [Symbol.dispose]: () => {} }
  const socket = opening
  const { hostname } = target
  const peer = hostAndPort(target)
  const stop = () => timer[Symbol.dispose]()
  const startConnectTimer = () =>
    clock.after(timeoutMs, () => {
      socket.destroy(new TimedOut(peer, socket.connecting ? 'connect' : 'handshake'))
    })
  let timer =
    isIP(hostname) === 0
      ? clock.after(LOOKUP_TIMEOUT_MS, () => socket.destroy(new TimedOut(hostname, 'look-up')))
      : startConnectTimer()
  socket.once('lookup', () => {
    stop()
    if (!socket.destroyed) timer = startConnectTimer()
  })
  socket.once('close', stop)
  return { [Symbol.dispose]: stop }
}
