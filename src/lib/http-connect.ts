// Limits how long a connection may take to open. The look-up of the name has a limit of its own: with a name server that
// is down and a search list, the system asks for many seconds before it has an answer, and the host has no part in that.

import { isIP, Socket } from 'node:net'
import { type Clock, MINUTE, SECOND } from './clock.ts'

/** LOOKUP_TIMEOUT_MS limits the look-up of a name: the system gives each name server 5 s, twice, for each search name. */
export const LOOKUP_TIMEOUT_MS = MINUTE

/**
 * CONNECT_TIMEOUT_MS limits the TCP and TLS handshakes to all addresses of a host together. They need up to four round
 * trips, over a satellite 0.7 s each; a lost packet adds 1 s, and an address that does not answer ATTEMPT_TIMEOUT_MS.
 */
export const CONNECT_TIMEOUT_MS = 20 * SECOND

/**
 * ATTEMPT_TIMEOUT_MS is how long an address may take before the next one is tried. Node's default of 250 ms is shorter
 * than the way to another continent and back.
 */
export const ATTEMPT_TIMEOUT_MS = 2 * SECOND

/**
 * TUNNEL_TIMEOUT_MS limits a proxy's answer to CONNECT. The proxy looks the name up and connects itself, and after its
 * own limit, which is a minute with most of them, its answer says why it could not.
 */
export const TUNNEL_TIMEOUT_MS = 90 * SECOND

/** TimedOut is the error of a connection that did not open in time. */
export class TimedOut extends Error {
  /** The host and port that did not answer in time: of the proxy until its tunnel is open, otherwise of the host. */
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
  /** Longest time in ms from the address of the host to an open connection. */
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
 * socket, or a promise if the connection goes through a tunnel. Dispose of the answer when the connection is open.
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
  const connecting = () =>
    clock.after(timeoutMs, () => {
      socket.destroy(new TimedOut(peer, socket.connecting ? 'connect' : 'handshake'))
    })
  let timer =
    isIP(hostname) === 0
      ? clock.after(LOOKUP_TIMEOUT_MS, () => socket.destroy(new TimedOut(hostname, 'look-up')))
      : connecting()
  socket.once('lookup', () => {
    stop()
    if (!socket.destroyed) timer = connecting()
  })
  socket.once('close', stop)
  return { [Symbol.dispose]: stop }
}
