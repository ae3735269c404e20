// What counts as stored: storage that lies, on real sockets. The first answer is the odd one; afterwards
// storage reads the whole request and answers as it should.

import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { rawServer } from '../../helpers/lib/http-servers.ts'
import { harness, outcomes } from '../../helpers/upload/harness.ts'

const FEED = '<jobs><job id="1"/></jobs>'
const NO_CONTENT = 'HTTP/1.1 204 No Content\r\n\r\n'
const MB = 1024 * 1024

const answerOf = (status: string, body: string, headers: Record<string, string> = {}) =>
  [
    `HTTP/1.1 ${status}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')

/** Storage on a raw socket; `odd` plays the first so many requests, what follows is taken as it should be. */
async function lying(odd: (socket: Socket, got: number, length: number) => void, times = 1) {
  let requests = 0
  const url = await rawServer((socket) => {
    let got = 0
    let length = Number.POSITIVE_INFINITY
    let head = ''
    let isOdd = false
    socket.on('data', (data: Buffer) => {
      if (head === '') {
        const text = data.toString('latin1')
        const end = text.indexOf('\r\n\r\n')
        head = text.slice(0, end)
        length = end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1])
        isOdd = requests++ < times
      }
      got += data.length
      if (isOdd) odd(socket, got, length)
      else if (got === length) socket.end(NO_CONTENT)
    })
  })
  const h = await harness({
    forms: (real) => ({
      ...real,
      requestForm: async (account, signal) => {
        const answer = await real.requestForm(account, signal)
        if (answer.kind !== 'form') return answer
        const fields = answer.form.fields.map(([name, value]) =>
          name === 'success_action_status' ? ([name, '204'] as const) : ([name, value] as const),
        )
        return { kind: 'form', form: { ...answer.form, url: url.href, fields } }
      },
    }),
  })
  return { ...h, posts: () => requests }
}

describe('a success that comes before the file was sent', () => {
  it.each([
    ['and reads on', (_: Socket) => {}],
    ['and closes', (socket: Socket) => socket.end()],
    ['and stops reading', (socket: Socket) => socket.pause()],
  ])('is not taken as stored: storage answers %s', async (_, then) => {
    let answered = false
    const h = await lying((socket, got) => {
      if (answered || got < 2 * MB) return
      answered = true
      socket.write(NO_CONTENT)
      then(socket)
    })

    const result = await h.deliver(Buffer.alloc(36 * MB, 'x'))

    expect(result).toMatchObject({ kind: 'stored' })
    expect(outcomes(h)).toEqual(['unknown', 'stored'])
    expect(h.attempts[0]).toMatchObject({ code: 'answered-early', status: 204 })
    expect(h.attempts[0]?.bytesSent).toBeLessThan(36 * MB)
  })

  it('is not taken as stored when only the end of its answer waits for the file', async () => {
    let answered = false
    const h = await lying((socket, got, length) => {
      if (!answered) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n')
      answered = true
      if (got === length) socket.end('\r\n')
    })

    await h.deliver(Buffer.alloc(36 * MB, 'x'))

    expect(outcomes(h)).toEqual(['unknown', 'stored'])
  })
})

describe('a success whose body or status says otherwise', () => {
  const error = (code: string) => `<Error><Code>${code}</Code><Message>no</Message></Error>`
  const login = '{"error":"login required"}'

  it.each([
    ['an error under 200', answerOf('200 OK', error('InternalError')), 'failed', 'InternalError'],
    [
      'an error with BOM, white space, prolog and namespaces',
      answerOf(
        '200 OK',
        `\uFEFF\n <?xml version="1.0" encoding="UTF-8"?>\n<!-- x --><s3:Error xmlns:s3="http://x/"><s3:Code>SlowDown</s3:Code></s3:Error>`,
      ),
      'failed',
      'SlowDown',
    ],
    ['a cut error', answerOf('200 OK', error('SlowDown').slice(0, -20)), 'failed', 'SlowDown'],
    ['JSON', answerOf('200 OK', login, { etag: 'W/"2a-1"' }), 'failed', 'http-200'],
    ['JSON with a strong ETag', answerOf('200 OK', login, { etag: '"1"' }), 'failed', 'http-200'],
    ['a text', answerOf('200 OK', 'Please log in'), 'failed', 'http-200'],
    ['202', answerOf('202 Accepted', ''), 'unknown', 'unconfirmed'],
    ['202 with JSON', answerOf('202 Accepted', login), 'failed', 'http-202'],
    ['201 with neither ETag nor document', answerOf('201 Created', ''), 'unknown', 'unconfirmed'],
    ['200 where 204 is named, bare', answerOf('200 OK', ''), 'unknown', 'unconfirmed'],
    [
      'a weak ETag of a page',
      answerOf('200 OK', '', { etag: 'W/"2a-1"' }),
      'unknown',
      'unconfirmed',
    ],
    [
      'a PostResponse of another object',
      answerOf('201 Created', '<PostResponse><Key>other.xml</Key></PostResponse>'),
      'unknown',
      'other-key',
    ],
    [
      'the MD5 of other bytes',
      answerOf('204 No Content', '', { etag: `"${'0'.repeat(32)}"` }),
      'failed',
      'etag-mismatch',
    ],
  ])('is not taken as stored: %s', async (_, answer, outcome, code) => {
    const h = await lying((socket) => socket.end(answer))

    const result = await h.deliver(FEED)

    expect(h.attempts[0]).toMatchObject({ outcome, code })
    expect(result).toMatchObject({ kind: 'stored' })
  })

  it.each([
    ['the opaque ETag that encryption makes', answerOf('200 OK', '', { etag: '"a-b"' }), false],
    ['the ETag of a multipart upload', answerOf('201 Created', '', { etag: '"0123-2"' }), false],
    ['a PostResponse', answerOf('201 Created', '\uFEFF<PostResponse/>'), false],
  ])('is taken as stored with %s', async (_, answer, etagVerified) => {
    const h = await lying((socket) => socket.end(answer))

    const result = await h.deliver(FEED)

    expect(result).toMatchObject({ kind: 'stored', etagVerified, warning: expect.any(String) })
    expect(h.attempts).toHaveLength(1)
  })
})
