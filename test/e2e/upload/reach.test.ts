// Hosts that cannot be reached or must not be trusted. Small servers on bare sockets play what the sandbox cannot.

import { spawn } from 'node:child_process'
import dns from 'node:dns'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import tls from 'node:tls'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { HOUR, MINUTE } from '../../../src/lib/clock.ts'
import { CA_CERTIFICATE, SERVER_CERTIFICATE, SERVER_KEY } from '../../helpers/lib/certificates.ts'
import { Outlet } from '../../helpers/outlet.ts'
import {
  EXPIRED_CERTIFICATE,
  OWN_KEY,
  SELF_SIGNED_CERTIFICATE,
} from '../../helpers/own-certificates.ts'

/** Returns the port of a server and the number of its connections. */
async function listening(server: Server): Promise<{ port: number; accepted: () => number }> {
  let accepted = 0
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    accepted += 1
    sockets.add(socket.on('error', () => {}))
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, accepted: () => accepted }
}

/** Returns a port with a full kernel queue: like a dropping firewall, it answers no SYN. */
async function deafPort(): Promise<number> {
  const script = `const s = require('net').createServer()
    s.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      console.log(s.address().port)
      process.kill(process.pid, 'SIGSTOP')
    })`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(child.stdout, 'data')
  const port = Number(line)
  const fillers = [0, 1].map(() => connect(port, '127.0.0.1').on('error', () => {}))
  onTestFinished(async () => {
    for (const filler of fillers) filler.destroy()
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  await Promise.all(fillers.map((filler) => once(filler, 'connect')))
  return port
}

/** A port without a server: only root may listen there. A port that was just closed may belong to another test. */
const CLOSED_PORT = 1

/** Expects a queued version with a reason, with failed attempts of this code, and nothing stored. */
function expectWaiting(outlet: Outlet, code: string): void {
  expect(outlet.version()).toMatchObject({ state: 'queued', reason: expect.stringMatching(/\w/) })
  expect(new Set(outlet.outcomes())).toEqual(new Set(['failed']))
  expect(new Set(outlet.attempts().map((attempt) => attempt.code))).toEqual(new Set([code]))
  expect(outlet.writes()).toEqual([])
}

describe('a service that cannot be reached', () => {
  it('because its port is closed is asked after growing waits, and recovers automatically', async () => {
    const baseUrl = `http://127.0.0.1:${CLOSED_PORT}/api`
    await using outlet = await Outlet.open({ baseUrl })

    await outlet.deliver(undefined, HOUR)

    expectWaiting(outlet, 'ECONNREFUSED')
    expect(outlet.serviceState).toBe('down')
    expect(outlet.attempts().length).toBeLessThan(5 + 12)
  })

  it.each(['fin', 'rst'] as const)(
    'because it ends each connection (%s) is asked again',
    async (how) => {
      await using outlet = await Outlet.open()
      outlet.fault({ at: 'service', kind: 'refuse', how, times: 2 })

      await outlet.deliver()

      expect(outlet.story()).toMatchObject({ state: 'uploaded', writes: [1] })
      expect(outlet.outcomes()).toEqual(['failed', 'failed', 'stored'])
    },
  )

  it('because no SYN is answered is given up in time', async () => {
    const baseUrl = `http://127.0.0.1:${await deafPort()}/api`
    await using outlet = await Outlet.open({ baseUrl, connectTimeoutMs: 200 })

    await outlet.take('jobs.xml')
    await outlet.run(0)

    expect(outlet.attempts()).toMatchObject([{ outcome: 'failed', code: 'connect-timeout' }])
  })

  it('because its name does not exist says so', async () => {
    // This label is too long, so no name server is asked.
    const baseUrl = `https://${'a'.repeat(64)}.invalid/api`
    await using outlet = await Outlet.open({ baseUrl })

    await outlet.deliver(undefined, 20_000)

    expectWaiting(outlet, 'ENOTFOUND')
    expect(outlet.version().reason).toContain('name server')
  })

  it('at its first address is reached at the second one', async () => {
    await using real = await Outlet.open()
    const baseUrl = real.sandbox.url.replace('127.0.0.1', 'dual-stack.test')
    await using outlet = await Outlet.open({ baseUrl })
    // This is the only way to have two addresses for a name on every machine.
    const lookup = vi.spyOn(dns, 'lookup').mockImplementation(((...call: unknown[]) => {
      const answer = call.at(-1) as (error: null, addresses: unknown) => void
      answer(null, [
        { address: '2001:db8::1', family: 6 },
        { address: '127.0.0.1', family: 4 },
      ])
    }) as unknown as typeof dns.lookup)

    await outlet.deliver()

    expect(lookup).toHaveBeenCalled()
    expect(real.requests('service')[0]?.status).toBe(200)
  })
})

describe('TLS', () => {
  const trust = (certificate: string) => {
    const before = tls.getCACertificates('default')
    tls.setDefaultCACertificates([...before, certificate])
    onTestFinished(() => tls.setDefaultCACertificates(before))
  }
  const secure = (cert: string, key: string) => listening(tls.createServer({ cert, key }))

  it.each([
    [
      'of an unknown CA',
      SERVER_CERTIFICATE,
      SERVER_KEY,
      '127.0.0.1',
      null,
      /UNABLE_TO|SELF_SIGNED/,
    ],
    ['that signed itself', SELF_SIGNED_CERTIFICATE, OWN_KEY, '127.0.0.1', null, /SELF_SIGNED/],
    ['that expired', EXPIRED_CERTIFICATE, OWN_KEY, '127.0.0.1', EXPIRED_CERTIFICATE, /EXPIRED/],
    ['for another name', SERVER_CERTIFICATE, SERVER_KEY, 'localhost', CA_CERTIFICATE, /ALTNAME/],
  ])('a certificate %s stops the feed at once, with a hint', async (...row) => {
    const [, certificate, key, host, ca, code] = row
    if (ca !== null) trust(ca)
    const { port, accepted } = await secure(certificate, key)
    await using outlet = await Outlet.open({ baseUrl: `https://${host}:${port}/api` })

    const version = await outlet.deliver(undefined, 10_000)

    expect(version).toMatchObject({
      ...{
        state: 'queued',
        hint: expect.stringMatching(/NODE_EXTRA_CA_CERTS .* restart feedsyncd;/),
      },
    })
    expect(outlet.attempts()).toMatchObject([
      { outcome: 'failed', code: expect.stringMatching(code) },
    ])
    expect(accepted()).toBe(1)
  })

  it('storage that cannot be trusted gets no byte of the feed', async () => {
    const { port } = await secure(SERVER_CERTIFICATE, SERVER_KEY)
    const url = `https://127.0.0.1:${port}/feeds`
    await using outlet = await Outlet.open({ form: (form) => ({ ...form, url }) })

    await outlet.deliver(undefined, 10_000)

    expect(outlet.attempts()).toMatchObject([{ outcome: 'failed', bytesSent: 0 }])
    expect(outlet.version().state).toBe('queued')
  })

  it('a handshake that is reset is tried again after growing waits', async () => {
    const server = createServer((socket) => socket.once('data', () => socket.resetAndDestroy()))
    const { port, accepted } = await listening(server)
    await using outlet = await Outlet.open({ baseUrl: `https://127.0.0.1:${port}/api` })

    await outlet.deliver(undefined, MINUTE)

    expect(outlet.version().state).toBe('queued')
    expect(new Set(outlet.outcomes())).toEqual(new Set(['failed']))
    expect(accepted()).toBeGreaterThan(1)
    expect(accepted()).toBeLessThanOrEqual(5 + 4)
  })
})
