// Hosts that cannot be reached or must not be trusted. Small servers on bare sockets play what the sandbox cannot.

import { spawn } from 'node:child_process'
import dns from 'node:dns'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, isIP, type Server, type Socket } from 'node:net'
import tls from 'node:tls'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { HOUR, MINUTE, systemClock } from '../../../src/lib/clock.ts'
import { CA_CERTIFICATE, SERVER_CERTIFICATE, SERVER_KEY } from '../../helpers/lib/certificates.ts'
import { Outlet } from '../../helpers/outlet.ts'
import {
  EXPIRED_CERTIFICATE,
  OWN_KEY,
  SELF_SIGNED_CERTIFICATE,
} from '../../helpers/own-certificates.ts'

/** listening starts a server, and returns its port and the number of its connections so far. */
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

/**
 * deafPort returns a port with a full kernel queue: like a dropping firewall, it answers no SYN. After `wake`, the
 * kernel takes the SYN that a client sends again after a second, as if the way were long. The bytes go on to `onward`.
 */
async function deafPort(onward = 0): Promise<{ port: number; wake: () => void }> {
  const script = `const net = require('net')
    const s = net.createServer((from) => {
      const to = net.connect(${onward}, '127.0.0.1')
      for (const socket of [from, to]) socket.on('error', () => {})
      from.pipe(to).pipe(from)
    })
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
  return { port, wake: () => void child.kill('SIGCONT') }
}

/** onLookup answers each look-up of a name in this process: the only way to choose the answer on every machine. */
function onLookup(answer: (tell: (...addresses: string[]) => void) => void) {
  return vi.spyOn(dns, 'lookup').mockImplementation(((...call: unknown[]) => {
    const done = call.at(-1) as (error: null, addresses: unknown) => void
    answer((...addresses) =>
      done(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      ),
    )
  }) as unknown as typeof dns.lookup)
}

/** A port without a server: only root may listen there. A port that was just closed can belong to another test. */
const CLOSED_PORT = 1

/** expectWaiting expects a queued version with a reason, with failed attempts of this code, and nothing stored. */
function expectWaiting(outlet: Outlet, code: string): void {
  expect(outlet.version()).toMatchObject({ state: 'queued', reason: expect.stringMatching(/\w/) })
  expect(new Set(outlet.outcomes())).toEqual(new Set(['failed']))
  expect(new Set(outlet.attempts().map((attempt) => attempt.code))).toEqual(new Set([code]))
  expect(outlet.writes()).toEqual([])
}

describe('a service that cannot be reached', () => {
  it('because its port is closed is down, and is asked only a few times in an hour', async () => {
    const baseUrl = `http://127.0.0.1:${CLOSED_PORT}/api`
    await using outlet = await Outlet.open({ baseUrl })

    await outlet.deliver(undefined, HOUR)

    expectWaiting(outlet, 'ECONNREFUSED')
    expect(outlet.serviceState).toBe('down')
    expect(outlet.attempts().length).toBeLessThan(5 + 12)
  })

  it.each(['fin', 'rst'] as const)(
    'because it ends two connections (%s) is asked again, and the feed is stored once',
    async (how) => {
      await using outlet = await Outlet.open()
      outlet.fault({ at: 'service', kind: 'refuse', how, times: 2 })

      await outlet.deliver()

      expect(outlet.story()).toMatchObject({ state: 'uploaded', writes: [1] })
      expect(outlet.outcomes()).toEqual(['failed', 'failed', 'stored'])
    },
  )

  it('because no SYN is answered is given up in time', async () => {
    const { port } = await deafPort()
    const baseUrl = `http://127.0.0.1:${port}/api`
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

  it('at its first address is reached at the second address', async () => {
    await using real = await Outlet.open()
    const baseUrl = real.sandbox.url.replace('127.0.0.1', 'dual-stack.test')
    await using outlet = await Outlet.open({ baseUrl })
    const lookup = onLookup((tell) => tell('2001:db8::1', '127.0.0.1'))

    await outlet.deliver()

    expect(lookup).toHaveBeenCalled()
    expect(real.requests('service')[0]?.status).toBe(200)
  })

  it('at any of its addresses says what each address did', async () => {
    await using outlet = await Outlet.open({ baseUrl: `http://two.test:${CLOSED_PORT}/api` })
    onLookup((tell) => tell('127.0.0.1', '::1'))

    await outlet.deliver(undefined, 10_000)

    expect(outlet.version().reason).toMatch(
      /no address accepted a connection: 127\.0\.0\.1:1 \(ECONNREFUSED\), \[::1\]:1 \(E[A-Z]+\)$/,
    )
  })

  it('within a second, because it is far away, is waited for although it has a second address', async () => {
    await using real = await Outlet.open()
    const { port, wake } = await deafPort(Number(new URL(real.sandbox.url).port))
    await using outlet = await Outlet.open({ baseUrl: `http://far.test:${port}/api` })
    onLookup((tell) => {
      tell('127.0.0.1', '::1')
      setImmediate(wake)
    })

    await outlet.deliver()

    expect(outlet.attempts()[0]?.code).not.toMatch(/connect|ECONN/)
    expect(real.requests('service')[0]?.status).toBe(200)
  })

  it('because no name server answers waits and says so, and names the name server', async () => {
    await using outlet = await Outlet.open({ baseUrl: 'http://slow.test/api' })
    onLookup(() => {})

    await outlet.take('jobs.xml')
    const ran = outlet.run(0)
    await outlet.clock.passUntil(() => outlet.outcomes()[0] === 'failed')
    await ran

    expectWaiting(outlet, 'lookup-timeout')
    expect(outlet.version().reason).toMatch(
      /the name server gave no address of slow\.test within 60 s \(asked: .*\d.*\)$/,
    )
  })

  it('in the time for a connection, because its look-up takes longer, is reached after the look-up', async () => {
    await using real = await Outlet.open()
    const baseUrl = real.sandbox.url.replace('127.0.0.1', 'slow.test')
    await using outlet = await Outlet.open({ baseUrl, connectTimeoutMs: 100 })
    onLookup((tell) => void systemClock.after(1500, () => tell('127.0.0.1')))

    await outlet.deliver()

    expect(outlet.attempts()[0]?.code).not.toMatch(/connect|timeout/)
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

  it('a handshake that is reset is tried again, but only a few times in a minute', async () => {
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
