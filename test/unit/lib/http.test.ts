import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { createHttpClient } from '../../../src/lib/http.ts'
import { VERSION } from '../../../src/lib/version.ts'
import { client, sendWith } from '../../helpers/lib/http-client.ts'
import { httpServer, rawServer } from '../../helpers/lib/http-servers.ts'

const PIECE = Buffer.alloc(64 * 1024, 'x')

async function* pieces(n: number) {
  for (let i = 0; i < n; i++) yield PIECE
}

const streamOf = (n: number) => ({
  length: n * PIECE.length,
  chunks: () => pieces(n),
  stallMs: 5000,
})

/** onRequest returns a listener that runs `then` when the first byte of a request has come. */
const onRequest = (then: (socket: Socket) => void) => (socket: Socket) => {
  socket.once('data', () => then(socket))
}

describe('an answer', () => {
  it('has status, headers and body, and its request has method, path and the name of feedsyncd', async () => {
    const url = await httpServer((request, response) => {
      response.writeHead(201, { etag: '"e"', 'x-two': ['a', 'b'] })
      response.end(`${request.method} ${request.url} ${request.headers['user-agent']}`)
    })

    const answer = await client()(new URL('/path?a=%20b', url))

    expect(answer).toMatchObject({
      ...{ kind: 'answer', status: 201, bodyCut: false, bytesSent: 0 },
      headers: { etag: '"e"', 'x-two': 'a, b' },
    })
    expect(answer.kind === 'answer' && answer.body.toString()).toBe(
      `POST /path?a=%20b feedsyncd/${VERSION}`,
    )
  })

  it.each([
    ['of HTTP/1.0, ended by the connection', 'HTTP/1.0 200 OK\r\n\r\n{"a":1}'],
    ['with odd header names', 'HTTP/1.1 200 OK\r\ncONTENT-lENGTH:7\r\nX-a:\r\n\r\n{"a":1}'],
    [
      'in chunks with extensions and trailers',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\n{"a\r\n4\r\n":1}\r\n0\r\nEtag: "e"\r\n\r\n',
    ],
    ['without a reason phrase', 'HTTP/1.1 200\r\nContent-Length: 7\r\n\r\n{"a":1}'],
  ])('is read: %s', async (_, bytes) => {
    const url = await rawServer(onRequest((socket) => socket.end(bytes)))

    const answer = await client()(url, { body: Buffer.from('{}') })

    const whole = { kind: 'answer', status: 200, body: Buffer.from('{"a":1}'), bodyCut: false }
    expect(answer).toMatchObject(whole)
  })

  it('is kept up to a limit', async () => {
    const url = await httpServer((_, response) => response.end('x'.repeat(5000)))

    const answer = await client()(url, { maxAnswerBytes: 1000 })

    expect(answer).toMatchObject({ kind: 'answer', bodyCut: true })
    expect(answer.kind === 'answer' && answer.body.length).toBe(1000)
  })

  it('is cut if it comes byte by byte without an end', async () => {
    const url = await httpServer((_, response) => {
      const drip = setInterval(() => response.write('x'), 5)
      response.once('close', () => clearInterval(drip))
    })

    const answer = await client()(url, { bodyTimeoutMs: 30 })

    expect(answer).toMatchObject({ kind: 'answer', status: 200, bodyCut: true })
  })

  it('keeps its status if the connection breaks before its end', async () => {
    const head = 'HTTP/1.1 403 Forbidden\r\nContent-Length: 100\r\n\r\n<Error>'
    const url = await rawServer(
      onRequest((socket) => socket.write(head, () => socket.resetAndDestroy())),
    )

    const answer = await client()(url)

    expect(answer).toMatchObject({ kind: 'answer', status: 403, bodyCut: true })
  })

  it('is not followed if it is a redirect', async () => {
    const url = await httpServer((_, response) => {
      response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end()
    })

    expect(await client()(url)).toMatchObject({ kind: 'answer', status: 307 })
  })

  it('ends the upload of a body', async () => {
    const answerNow = 'HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno'
    const url = await rawServer(onRequest((socket) => socket.write(answerNow)))
    const ended = Promise.withResolvers<void>()
    async function* endless() {
      try {
        for (;;) yield PIECE
      } finally {
        ended.resolve()
      }
    }

    const answer = await client()(url, {
      body: { ...streamOf(1), length: 2 ** 40, chunks: endless },
    })

    expect(answer).toMatchObject({ kind: 'answer', status: 403 })
    await ended.promise
  })
})

describe('an answer that cannot be read', () => {
  const HEAD = 'HTTP/1.1 201 Created\r\n'
  it.each([
    ['its lines end without CR', 'HTTP/1.1 201 Created\nContent-Length: 2\n\nok', 'Missing'],
    ['two lengths', `${HEAD}Content-Length: 2\r\nContent-Length: 2\r\n\r\nok`, 'it is not'],
    [
      'a length beside chunks',
      `${HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nok`,
      'it is',
    ],
    ['a folded header', `${HEAD}X-A: a\r\n b\r\nContent-Length: 2\r\n\r\nok`, 'Unexpected'],
    [
      'a folded header after the length',
      `${HEAD}Content-Length: 2\r\nX-A: a\r\n b\r\n\r\nok`,
      'it is',
    ],
    ['a space before a colon', `${HEAD}X-A : a\r\n\r\nok`, 'Invalid header token'],
    [
      '300 kB of cookies',
      `${HEAD}Set-Cookie: ${'x'.repeat(300_000)}\r\n\r\n`,
      'its headers have more',
    ],
  ])('is "unreadable" with the reason, and not a lost connection: %s', async (_, bytes, why) => {
    const url = await rawServer(onRequest((socket) => socket.end(bytes)))

    const answer = await client()(url)

    expect(answer).toMatchObject({
      ...{ kind: 'no-answer', why: 'unreadable', code: 'unreadable-answer' },
      reason: expect.stringContaining(`the answer cannot be read (${why}`),
    })
  })
})

describe('an unrequested interim answer', () => {
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
  const FINAL = 'HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\ndone'

  it.each([
    ['alone', [CONTINUE, FINAL]],
    ['in one piece with the final one', [CONTINUE + FINAL]],
    ['twice, with headers', ['HTTP/1.1 100\r\nX-A: 1\r\n\r\n', CONTINUE, FINAL]],
    ['among others', [`HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n${CONTINUE}`, FINAL]],
    ['of HTTP/1.0', ['HTTP/1.0 100 Continue\r\n\r\n', FINAL]],
    ['byte by byte', [...(CONTINUE + FINAL)]],
  ])('is dropped: %s', async (_, written) => {
    const url = await rawServer(
      onRequest(async (socket) => {
        for (const piece of written) await new Promise((resolve) => socket.write(piece, resolve))
      }),
    )

    const answer = await client()(url)

    expect(answer).toMatchObject({ kind: 'answer', status: 201, body: Buffer.from('done') })
  })

  it('is dropped for each request of a kept connection, and only before the answer', async () => {
    const ports = new Set<number | undefined>()
    const url = await httpServer((request, response) => {
      ports.add(request.socket.remotePort)
      response.writeContinue()
      request.resume().on('end', () => response.end(CONTINUE))
    })
    const send = client()

    const answers = []
    while (answers.length < 6 || ports.size === answers.length) {
      answers.push(await send(url, { body: PIECE }))
      await setImmediate()
    }

    // Text that looks like an interim answer stays in the body of an answer.
    const whole = { kind: 'answer', status: 200, body: Buffer.from(CONTINUE) }
    expect(answers).toEqual(answers.map(() => expect.objectContaining(whole)))
  })

  it('is an answer that cannot be read if it has no end', async () => {
    const url = await rawServer(
      onRequest((socket) => socket.write(`HTTP/1.1 100 Continue\r\nX: ${'x'.repeat(300_000)}`)),
    )

    const answer = await client()(url)

    expect(answer).toMatchObject({ why: 'unreadable', code: 'unreadable-answer' })
  })

  it('is a lost connection if no answer follows', async () => {
    const url = await rawServer(onRequest((socket) => socket.end(CONTINUE)))

    const answer = await client()(url)

    expect(answer).toMatchObject({ kind: 'no-answer', why: 'lost', code: 'connection-closed' })
  })
})

describe('a streamed body', () => {
  it('arrives with its exact length, and its bytes are counted after each piece', async () => {
    const got: { length?: string | undefined; bytes: number } = { bytes: 0 }
    const url = await httpServer(async (request, response) => {
      got.length = request.headers['content-length']
      for await (const chunk of request) got.bytes += chunk.length
      response.end()
    })
    const counts: number[] = []

    const answer = await client()(url, {
      body: { ...streamOf(3), onAccepted: (bytes) => counts.push(bytes) },
    })

    expect(got).toEqual({ length: '196608', bytes: 196_608 })
    expect(answer).toMatchObject({ kind: 'answer', bytesSent: 196_608 })
    expect(counts).toEqual([65_536, 131_072, 196_608])
  })

  it.each([
    ['shorter', 2],
    ['longer', 4],
  ])('is our own failure if it is %s than announced', async (_, n) => {
    const url = await httpServer((request, response) => {
      request.resume().on('end', () => response.end())
    })

    const answer = await client()(url, { body: { ...streamOf(3), chunks: () => pieces(n) } })

    expect(answer).toMatchObject({ kind: 'no-answer', why: 'source' })
  })

  it('is our own failure if it cannot be read', async () => {
    const url = await httpServer((request, response) => {
      request.resume().on('end', () => response.end())
    })
    async function* failing() {
      yield PIECE
      throw Object.assign(new Error('disk'), { code: 'EIO' })
    }

    const answer = await client()(url, { body: { ...streamOf(3), chunks: failing } })

    expect(answer).toMatchObject({ kind: 'no-answer', why: 'source' })
  })
})

describe('no answer', () => {
  it('is "unreachable" from a port without a listener', async () => {
    const answer = await client()('http://127.0.0.1:1/?token=hidden')

    expect(answer).toEqual({
      ...{ kind: 'no-answer', why: 'unreachable', code: 'ECONNREFUSED', bytesSent: 0 },
      reason: 'the connection was refused: 127.0.0.1:1 (ECONNREFUSED)',
    })
  })

  it('is "unreachable" from a name that does not exist', async () => {
    const answer = await client()('http://no-such-host.invalid/')

    expect(answer).toMatchObject({
      why: 'unreachable',
      code: expect.stringMatching(/^E(NOTFOUND|AI_AGAIN)$/),
    })
  })

  it.each([
    ['lost', 'RST', (socket: Socket) => void socket.resetAndDestroy()],
    ['lost', 'FIN', (socket: Socket) => void socket.end()],
    [
      'unreadable',
      'bytes of another protocol',
      (socket: Socket) => void socket.end('SSH-2.0-x\r\n'),
    ],
    ['silent', 'silence', () => {}],
  ])('is "%s" after %s', async (why, _, end) => {
    const url = await rawServer(onRequest(end))

    const answer = await client()(url, { headersTimeoutMs: 50 })

    expect(answer).toMatchObject({ kind: 'no-answer', why })
  })

  it('is "lost" with a body that was fully sent if the connection ends after the last byte', async () => {
    const url = await rawServer((socket) => {
      let bytes = 0
      socket.on('data', (data) => {
        bytes += data.length
        if (bytes > 3 * PIECE.length) socket.end()
      })
    })

    const answer = await client()(url, { body: streamOf(3) })

    expect(answer).toMatchObject({ why: 'lost', bytesSent: 3 * PIECE.length })
  })

  it('is "aborted" when the caller aborts', async () => {
    const stop = new AbortController()
    const url = await rawServer(onRequest(() => stop.abort(new Error('a reason of its own'))))

    const answer = await client()(url, { signal: stop.signal })

    expect(answer).toMatchObject({ kind: 'no-answer', why: 'aborted', code: 'aborted' })
  })

  it('is "aborted" before any byte is sent when the caller had aborted before', async () => {
    const answer = await client()('http://127.0.0.1:1/', {
      ...{ signal: AbortSignal.abort(), body: streamOf(1) },
    })

    expect(answer).toMatchObject({ why: 'aborted', bytesSent: 0 })
  })
})

describe('connections', () => {
  it('are kept for the next request, unless the request asks for a new one', async () => {
    const ports: Array<number | undefined> = []
    const url = await httpServer((request, response) => {
      ports.push(request.socket.remotePort)
      response.end()
    })
    const send = client()

    while (ports.length < 2 || ports.at(-1) !== ports.at(-2)) {
      await send(url)
      // The answer comes just before its connection is free again.
      await setImmediate()
    }
    await send(url, { freshConnection: true })
    await send(url, { freshConnection: true })

    expect(new Set(ports.slice(-3)).size).toBe(3)
  })

  it('reach IPv6 hosts', async () => {
    const url = await httpServer((_, response) => response.end('six'), '::1')

    expect(await client()(url)).toMatchObject({ kind: 'answer', body: Buffer.from('six') })
  })

  it('reach a host whose first address is dead', async () => {
    const url = await httpServer((_, response) => response.end('four'))

    const answer = await client()(`http://localhost:${url.port}/`)

    expect(answer).toMatchObject({ kind: 'answer', body: Buffer.from('four') })
  })

  it('are closed when the client is disposed', async () => {
    const closed = Promise.withResolvers<void>()
    const url = await rawServer((socket) => {
      socket.on('close', () => closed.resolve())
    })
    const http = createHttpClient({ clock: systemClock, env: {} })
    const answer = sendWith(http)(url)

    await http[Symbol.asyncDispose]()

    expect(await answer).toMatchObject({ kind: 'no-answer' })
    await closed.promise
  })
})
