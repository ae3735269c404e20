import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { createHttpClient } from '../../../src/lib/http.ts'
import { client, sendWith } from '../../helpers/lib/http-client.ts'
import { httpServer, proxyServer, rawServer, tlsServer } from '../../helpers/lib/http-servers.ts'

describe('a proxy of the environment', () => {
  it.each(['HTTP_PROXY', 'http_proxy'])('gets requests to http addresses (%s)', async (name) => {
    const url = await httpServer((_, response) => response.end('through'))
    const proxy = await proxyServer()

    const answer = await client({ [name]: proxy.url.href })(new URL('/a?b', url))

    expect(answer).toMatchObject({ kind: 'answer', status: 200, body: Buffer.from('through') })
    expect(proxy.seen).toEqual([`POST ${url.href}a?b`])
  })

  it.each(['HTTPS_PROXY', 'https_proxy'])(
    'tunnels to https addresses, whose certificates are verified (%s)',
    async (name) => {
      const url = await tlsServer((_, response) => response.end())
      const proxy = await proxyServer()

      const answer = await client({ [name]: proxy.url.host })(url)

      // Nobody trusts this CA.
      expect(answer).toMatchObject({ kind: 'no-answer', why: 'certificate' })
      expect(proxy.seen).toEqual([`CONNECT ${url.host}`])
    },
  )

  it.each([
    ['NO_PROXY', 'example.com,127.0.0.1'],
    ['no_proxy', 'example.com,127.0.0.1'],
    ['NO_PROXY', '10.0.0.0/8, 127.0.0.0/8'],
  ])('is not used for hosts in %s (%s)', async (name, value) => {
    const url = await httpServer((_, response) => response.end())
    const proxy = await proxyServer()
    const env = { HTTP_PROXY: proxy.url.href, [name]: value }

    const answer = await client(env)(url)

    expect(answer).toMatchObject({ kind: 'answer', status: 200 })
    expect(proxy.seen).toEqual([])
  })

  it('gets the credentials of its address', async () => {
    const url = await httpServer((_, response) => response.end())
    const proxy = await proxyServer()
    const address = `http://user:p%40ss@${proxy.url.host}`

    await client({ HTTP_PROXY: address })(url)

    expect(proxy.authorizations).toEqual([`Basic ${Buffer.from('user:p@ss').toString('base64')}`])
  })

  it('may send an unrequested 100 Continue', async () => {
    const url = await httpServer((_, response) => {
      response.writeContinue()
      response.end('through')
    })
    const direct = await rawServer((socket) => {
      const onward = connect(Number(url.port), url.hostname)
      socket.pipe(onward).pipe(socket)
    })

    const answer = await client({ HTTP_PROXY: direct.href })(url)

    expect(answer).toMatchObject({ kind: 'answer', status: 200, body: Buffer.from('through') })
  })

  it('streams a body with its exact length', async () => {
    let length: string | undefined
    const url = await httpServer((request, response) => {
      length = request.headers['content-length']
      request.resume().on('end', () => response.end())
    })
    const proxy = await proxyServer()
    async function* chunks() {
      yield Buffer.alloc(300_000)
    }

    const answer = await client({ HTTP_PROXY: proxy.url.href })(url, {
      body: { length: 300_000, chunks, stallMs: 5000 },
    })

    expect(answer).toMatchObject({ kind: 'answer', status: 200, bytesSent: 300_000 })
    expect(length).toBe('300000')
  })

  it.each([
    ['https://example.com/', 407, { why: 'proxy', code: 'proxy-407' }],
    ['https://example.com/', 403, { why: 'proxy', code: 'proxy-403' }],
    ['http://example.com/', 407, { why: 'proxy', code: 'proxy-407' }],
  ])(
    'is named as the part that refused the request, without its password (%s, %i)',
    async (target, status, expected) => {
      const proxy = await proxyServer(status)
      const address = `http://user:hidden-password@${proxy.url.host}`

      const answer = await client({ HTTP_PROXY: address, HTTPS_PROXY: address })(target)

      expect(answer).toMatchObject({ kind: 'no-answer', ...expected })
      expect(JSON.stringify(answer)).not.toContain('hidden-password')
    },
  )

  it('is named as the part that did not connect in time, and nothing was sent', async () => {
    const proxy = await rawServer(() => {})
    const http = createHttpClient({
      ...{ clock: systemClock, env: { HTTPS_PROXY: proxy.href }, tunnelTimeoutMs: 100 },
    })
    onTestFinished(() => http[Symbol.asyncDispose]())
    async function* chunks() {
      yield Buffer.alloc(10)
    }

    const answer = await sendWith(http)('https://example.com/', {
      body: { length: 10, chunks, stallMs: 60_000 },
    })

    expect(answer).toEqual({
      ...{ kind: 'no-answer', why: 'proxy', code: 'proxy-timeout', bytesSent: 0 },
      reason: 'the proxy did not connect to example.com:443 in time',
    })
  })

  it('does not hold a request that is aborted if it never answers', async () => {
    const stop = new AbortController()
    const proxy = await rawServer((socket) => void socket.once('data', () => stop.abort()))

    const answer = await client({ HTTPS_PROXY: proxy.href })('https://example.com/', {
      signal: stop.signal,
    })

    expect(answer).toMatchObject({ kind: 'no-answer', why: 'aborted' })
  })

  it('is named as the part that is down', async () => {
    const env = { HTTPS_PROXY: 'http://user:hidden-password@127.0.0.1:1' }

    const answer = await client(env)('https://example.com/')

    expect(answer).toMatchObject({
      ...{ kind: 'no-answer', why: 'unreachable', code: 'ECONNREFUSED' },
      reason: 'the connection was refused: 127.0.0.1:1 (ECONNREFUSED)',
    })
  })

  it.each([
    ...['http://', 'socks5://127.0.0.1:1080', 'http://user:hidden-password@:x'],
    'http://user:hidden-100%@127.0.0.1:3128',
  ])(
    'is a configuration error if its address is unusable, and the message does not repeat it (%s)',
    (address) => {
      const create = () =>
        createHttpClient({
          ...{ clock: systemClock, env: { HTTPS_PROXY: address } },
        })

      expect(create).toThrow(
        expect.objectContaining({
          ...{ exitCode: 78, message: 'HTTPS_PROXY does not hold a usable proxy address' },
          hint: expect.stringContaining('http://host:port'),
        }),
      )
    },
  )
})
