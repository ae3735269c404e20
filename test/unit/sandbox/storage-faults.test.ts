import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type Clock, systemClock } from '../../../src/lib/clock.ts'
import type { AnswerEnding } from '../../../src/sandbox/http/answer.ts'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'
import {
  multipart,
  partsOf,
  post,
  postHead,
  presign,
  RawConnection,
} from '../../helpers/sandbox/client.ts'
import { sandbox } from '../../helpers/sandbox/sandbox.ts'
import { waitForObjects, waitForRequest } from '../../helpers/sandbox/waiting.ts'

const FILE = 'x'.repeat(1000)

/** upload gets a form and posts it on a raw connection, except for the last `cutBy` bytes. */
async function upload(box: Sandbox, cutBy = 0, file = FILE): Promise<RawConnection> {
  const form = await presign(box.url)
  const body = multipart(partsOf(form, file))
  const raw = new RawConnection(box.storageUrl)
  raw.write(postHead(form.url, body.length))
  raw.write(body.subarray(0, body.length - cutBy))
  return raw
}

async function store(box: Sandbox) {
  const form = await presign(box.url)
  return post(form.url, partsOf(form, FILE))
}

describe('an error of S3', () => {
  it.each(['headers', 'fields', 'middle'] as const)(
    'can come before the end of the body, end the connection and store nothing: %s',
    async (point) => {
      await using box = await sandbox()
      box.faults.add({
        at: 'storage',
        kind: 's3-error',
        code: 'AccessDenied',
        message: 'Invalid according to Policy: Policy expired.',
        point,
      })

      using raw = await upload(box, 300)

      expect(await raw.until('</Error>')).toMatch(
        /^HTTP\/1\.1 403 [\s\S]*connection: close[\s\S]*Policy expired/,
      )
      expect(await raw.closed).toBe('fin')
      expect(box.objects()).toEqual([])
    },
  )

  it('at the point "middle" comes after half of the file', async () => {
    await using box = await sandbox()
    box.faults.add({ at: 'storage', kind: 's3-error', code: 'SlowDown', point: 'middle' })

    using raw = await upload(box, 900)
    await waitForRequest(box, ({ fileBytes }) => (fileBytes ?? 0) > 0)

    expect(raw.text).toBe('')
    raw.write('x'.repeat(600))
    await raw.until('SlowDown')
  })

  it('at the end of the body keeps the connection open', async () => {
    await using box = await sandbox()
    box.faults.add({ at: 'storage', kind: 's3-error', code: 'InternalError', times: 1 })
    using raw = await upload(box)
    await raw.until('</Error>')

    const form = await presign(box.url)
    const body = multipart(partsOf(form, FILE))
    raw.write(Buffer.concat([Buffer.from(postHead(form.url, body.length)), body]))

    await raw.until('</PostResponse>')
    const posts = box.requests().filter(({ route }) => route === 'store')
    expect(posts.map(({ connection }) => connection)).toEqual([1, 1])
  })

  it('at the end of the body can have a Retry-After, and stores nothing', async () => {
    await using box = await sandbox()
    box.faults.add({
      at: 'storage',
      kind: 's3-error',
      code: 'InternalError',
      retryAfter: '7',
      times: 2,
    })

    const replies = [await store(box), await store(box), await store(box)]

    expect(replies.map(({ status }) => status)).toEqual([500, 500, 201])
    expect(replies[0]?.headers).toMatchObject({ 'retry-after': '7' })
    expect(box.objects()).toHaveLength(1)
    expect(box.requests().filter(({ stored }) => stored)).toHaveLength(1)
  })

  it.each<[AnswerEnding, 'fin' | 'rst' | 'open']>([
    ['drain', 'fin'],
    ['destroy', 'rst'],
    ['hold', 'open'],
    ['cut', 'rst'],
  ])('before the file can leave the connection in four ways: %s gives %s', async (ending, end) => {
    await using box = await sandbox()
    box.faults.add({
      at: 'storage',
      kind: 's3-error',
      code: 'AccessDenied',
      point: 'fields',
      ending,
    })

    // The file is larger than the buffers. With unread bytes, a plain close becomes an RST.
    using raw = await upload(box, 10, 'x'.repeat(30_000_000))
    const answered = raw.until(ending === 'cut' ? '<Error>' : '</Error>')
    const ended = await Promise.race([raw.closed, answered.then(() => 'open' as const)])

    if (end === 'open') expect(ended).toBe('open')
    else expect(await raw.closed).toBe(end)
    if (ending === 'cut') expect(raw.text).not.toContain('</Error>')
    else if (ending !== 'destroy') expect(raw.text).toContain('</Error>')
  })

  it('can have a byte order mark, a namespace, CDATA, entities, half of its XML, or 10 MB', async () => {
    await using box = await sandbox()
    const styles = ['bom', 'namespace', 'cdata', 'entities', 'truncated', 'huge'] as const
    for (const style of styles) {
      box.faults.add({ at: 'storage', kind: 's3-error', code: 'SlowDown', style, times: 1 })
    }

    const bodies = new Map<string, string>()
    for (const style of styles) bodies.set(style, (await store(box)).body)

    expect(bodies.get('bom')?.charCodeAt(0)).toBe(0xfeff)
    expect(bodies.get('namespace')).toContain('<Error xmlns=')
    expect(bodies.get('cdata')).toContain('<Code><![CDATA[SlowDown]]></Code>')
    expect(bodies.get('entities')).toContain('<!ENTITY l9 "&l8;')
    expect(bodies.get('truncated')).toMatch(/<Error>(?!.*<\/Error>)/s)
    expect(bodies.get('huge')?.length).toBeGreaterThan(10_000_000)
  })
})

describe('a connection to the storage', () => {
  it.each(['fin', 'rst'] as const)(
    'can end by %s as soon as it is accepted, and the next is served',
    async (how) => {
      await using box = await sandbox()
      box.faults.add({ at: 'storage', kind: 'refuse', how, times: 1 })

      using raw = new RawConnection(box.storageUrl)

      expect(await raw.closed).toBe(how)
      expect((await store(box)).status).toBe(201)
    },
  )

  it.each(['fin', 'rst'] as const)(
    'can end by %s before the body, and the log shows no answer',
    async (how) => {
      await using box = await sandbox()
      box.faults.add({ at: 'storage', kind: 'drop', point: 'headers', how })
      using raw = new RawConnection(box.storageUrl)

      raw.write(postHead(box.storageUrl, 1000))

      expect(await raw.closed).toBe(how)
      expect(box.requests()).toMatchObject([{ status: null, bytes: 0, faults: ['drop'] }])
    },
  )

  it('can end at its second request, and not before', async () => {
    await using box = await sandbox()
    box.faults.add({ at: 'storage', kind: 'drop', point: 'reuse', how: 'rst' })
    using raw = await upload(box)
    await raw.until('</PostResponse>')

    raw.write(postHead(box.storageUrl, 1000))

    expect(await raw.closed).toBe('rst')
    expect(box.objects()).toHaveLength(1)
  })

  it.each([
    [1, 999],
    [-1, 1],
  ])('can end at byte %i of the file and store nothing', async (fileByte, left) => {
    await using box = await sandbox()
    box.faults.add({ at: 'storage', kind: 'drop-at-byte', fileByte, how: 'rst' })
    const tail = '\r\n----\r\n'.length + 'aBoundaryOfTheTests7'.length

    using raw = await upload(box, tail + left)

    expect(await raw.closed).toBe('rst')
    expect(box.requests().at(-1)).toMatchObject({ fileBytes: 1000 - left, status: null })
    expect(box.objects()).toEqual([])
  })

  it.each([
    ['fin', true],
    ['fin', false],
    ['rst', true],
    ['rst', false],
    ['silence', true],
    ['silence', false],
  ] as const)(
    'can end by %s after the whole body without an answer, stored: %s',
    async (how, stored) => {
      await using box = await sandbox()
      box.faults.add({ at: 'storage', kind: 'lose-answer', how, stored })

      using raw = await upload(box)
      const seen = await waitForRequest(box, ({ faults }) => faults.includes('lose-answer'))
      if (stored) await waitForObjects(box, 1)
      if (how === 'silence') {
        await waitForRequest(box, ({ n, fileBytes }) => n === seen.n && fileBytes === FILE.length)
        raw.socket.destroy()
        await waitForRequest(box, ({ n, endedAt }) => n === seen.n && endedAt !== null)
      } else expect(await raw.closed).toBe(how)

      expect(box.objects()).toHaveLength(stored ? 1 : 0)
      expect(raw.text).toBe('')
    },
  )

  it('can announce its end with Connection: close, and end by FIN', async () => {
    await using box = await sandbox()
    box.faults.add({ at: 'storage', kind: 'connection-close' })

    using raw = await upload(box)

    expect(await raw.until('</PostResponse>')).toMatch(/connection: close/i)
    expect(await raw.closed).toBe('fin')
  })

  it('can announce a timeout, and end by RST while it is idle', async () => {
    await using box = await sandbox()
    box.faults.add({ at: 'storage', kind: 'keep-alive', seconds: 1, closeAfterMs: 5, how: 'rst' })

    using raw = await upload(box)

    expect(await raw.until('</PostResponse>')).toMatch(/keep-alive: timeout=1\r\n/i)
    expect(await raw.closed).toBe('rst')
  })
})

describe('the pace of the storage', () => {
  it('can be throttled and stalled, by the given clock', async () => {
    const slept: number[] = []
    const clock: Clock = { ...systemClock, sleep: async (ms) => void slept.push(ms) }
    await using box = await sandbox({ clock })
    box.faults.add({ at: 'storage', kind: 'throttle', bytesPerSecond: 100 })
    box.faults.add({
      at: 'storage',
      kind: 'stall',
      fileByte: 500,
      ms: 25_000,
      afterwards: 'continue',
    })

    const reply = await store(box)

    expect(reply.status).toBe(201)
    expect(slept).toContain(25_000)
    expect(slept.filter((ms) => ms !== 25_000).reduce((a, b) => a + b)).toBe(10_000)
  })

  it.each([
    ['request-timeout', 'RequestTimeout'],
    ['rst', null],
  ] as const)('can stall, then fail and store nothing: %s', async (afterwards, code) => {
    await using box = await sandbox()
    box.faults.add({ at: 'storage', kind: 'stall', fileByte: 1, ms: 1, afterwards })

    using raw = await upload(box, 100)

    if (code !== null) expect(await raw.until('</Error>')).toContain(code)
    else expect(await raw.closed).toBe('rst')
    expect(box.objects()).toEqual([])
  })
})

describe("an answer's bytes", () => {
  it.each([100, 102, 103] as const)('can follow an interim answer %i', async (status) => {
    await using box = await sandbox()
    box.faults.add({ at: 'storage', kind: 'interim', status })

    using raw = await upload(box)

    const text = await raw.until('</PostResponse>')
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*\r\n\r\nHTTP/1\\.1 201 `, 's'))
  })

  it.each([
    ['garbage', /not HTTP/],
    ['two-answers', /^HTTP\/1\.1 500 .*\{\}HTTP\/1\.1 201 /s],
    ['without-cr', /^HTTP\/1\.1 201 Created\n[^\r]*<\/PostResponse>$/],
    ['both-lengths', /transfer-encoding: chunked\r\n.*content-length: /s],
    ['folded-header', /x-folded: a\r\n b\r\n/],
    ['oversized-headers', /set-cookie: xxx/],
  ] as const)('can be invalid or unusual HTTP, and end by FIN: %s', async (what, shown) => {
    await using box = await sandbox()
    box.faults.add({ at: 'storage', kind: 'raw', what })

    using raw = await upload(box)

    expect(await raw.closed).toBe('fin')
    expect(raw.text).toMatch(shown)
  })

  it('can come chunked, compressed, or byte by byte and complete', async () => {
    await using box = await sandbox()
    for (const how of ['chunked', 'gzip', 'byte-by-byte'] as const) {
      box.faults.add({ at: 'storage', kind: 'transfer', how, times: 1 })
    }
    box.faults.add({ at: 'storage', kind: 's3-error', code: 'SlowDown', times: 2 })

    using chunked = await upload(box)
    const chunkedText = await chunked.until('0\r\n\r\n')
    box.faults.add({ at: 'storage', kind: 'connection-close', times: 1 })
    using gzip = await upload(box)
    await gzip.closed
    const plain = await store(box)

    expect(chunkedText).toMatch(/transfer-encoding: chunked[\s\S]*SlowDown/i)
    expect(gzip.text).toMatch(/content-encoding: gzip/i)
    const body = gzip.text.slice(gzip.text.indexOf('\r\n\r\n') + 4)
    expect(gunzipSync(Buffer.from(body, 'latin1')).toString()).toContain('SlowDown')
    expect(plain.body).toContain('</PostResponse>')
  })
})

describe('Expect: 100-continue', () => {
  it('is answered with 100 before the body comes', async () => {
    await using box = await sandbox()
    using raw = new RawConnection(box.storageUrl)

    raw.write(postHead(box.storageUrl, 10).replace('\r\n\r\n', '\r\nExpect: 100-continue\r\n\r\n'))

    expect(await raw.until('\r\n\r\n')).toMatch(/^HTTP\/1\.1 100 /)
  })
})
