import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE, systemClock } from '../../../src/lib/clock.ts'
import {
  BOUNDARY,
  codeOf,
  type Form,
  messageOf,
  multipart,
  type Part,
  PRESIGN,
  partsOf,
  post,
  postHead,
  presign,
  RawConnection,
  send,
  signedHeaders,
} from '../../helpers/sandbox/client.ts'
import { sandbox } from '../../helpers/sandbox/sandbox.ts'
import { waitForObjects, waitForRequest } from '../../helpers/sandbox/waiting.ts'

describe('a correct form', () => {
  it('stores the exact bytes, and is answered with ETag, address and key of the object', async () => {
    await using box = await sandbox()
    const form = await presign(box.url)
    // The file is binary and has bytes that look like a boundary.
    const file = Buffer.concat([
      Buffer.from(`\r\n--${BOUNDARY.slice(0, -1)}\r\n--\r\n\r`),
      randomBytes(300_000),
      Buffer.from('\r\n--'),
    ])

    const reply = await post(form.url, partsOf(form, file))

    const md5 = createHash('md5').update(file).digest('hex')
    expect(reply.status).toBe(201)
    expect(reply.headers.etag).toBe(`"${md5}"`)
    expect(reply.headers.location).toBe(form.fileUrl)
    expect(reply.body).toContain(`<Key>${form.fields.key}</Key>`)
    const [object] = box.objects()
    expect(object).toMatchObject({
      key: form.fields.key,
      bytes: file.length,
      md5,
      sha256: createHash('sha256').update(file).digest('hex'),
      account: '42',
      writes: 1,
    })
    expect(object?.path).toContain(form.fields.key)
    expect(readFileSync(String(object?.path)).equals(file)).toBe(true)
  })

  it.each([
    ['200', 200],
    ['204', 204],
    ['202', 204],
    ['404', 204],
  ])(
    'is answered with the status that it names, and without a body: %s gives %i',
    async (named, status) => {
      await using box = await sandbox({ successStatus: named })
      const form = await presign(box.url)

      const reply = await post(form.url, partsOf(form, '<a/>'))

      expect(reply).toMatchObject({ status, body: '' })
    },
  )

  it('can arrive byte by byte', async () => {
    await using box = await sandbox()
    const form = await presign(box.url)
    const body = multipart(partsOf(form, '<a>\r\n--</a>\r\n'))
    using raw = new RawConnection(box.storageUrl)

    raw.socket.setNoDelay(true)
    raw.write(postHead(form.url, body.length))
    for (const byte of body) raw.write(Buffer.of(byte))

    expect(await raw.until('</PostResponse>')).toMatch(/^HTTP\/1\.1 201 /)
    expect(box.objects()[0]?.bytes).toBe(13)
  })

  it('replaces the object of the same key, and counts both writes', async () => {
    await using box = await sandbox()
    const form = await presign(box.url)

    await post(form.url, partsOf(form, '<a/>'))
    await post(form.url, partsOf(form, '<bb/>'))

    expect(box.objects()).toMatchObject([{ bytes: 5, writes: 2 }])
  })

  it('stores the object after the last byte, and not before', async () => {
    await using box = await sandbox()
    const form = await presign(box.url)
    const body = multipart(partsOf(form, 'x'.repeat(1000)))
    using raw = new RawConnection(box.storageUrl)

    raw.write(postHead(form.url, body.length))
    raw.write(body.subarray(0, -300))
    await waitForRequest(box, ({ fileBytes }) => (fileBytes ?? 0) > 500)

    expect(box.objects()).toEqual([])
    raw.write(body.subarray(-300))
    expect(await waitForObjects(box, 1)).toMatchObject([{ bytes: 1000 }])
  })
})

describe('a form', () => {
  const cases: [string, (parts: Part[]) => Part[], number, string, string?][] = [
    [
      'a field more',
      (p) => [['note', 'x'], ...p],
      403,
      'AccessDenied',
      'Invalid according to Policy: Extra input fields: note',
    ],
    ['x-ignore- fields', (p) => [['x-ignore-note', 'x'], ...p], 201, ''],
    [
      'another key',
      (p) => set(p, 'key', 'other.xml'),
      403,
      'AccessDenied',
      'Invalid according to Policy: Policy Condition failed: ["eq", "$key", "',
    ],
    [
      'another status',
      (p) => set(p, 'success_action_status', '200'),
      403,
      'AccessDenied',
      'Invalid according to Policy: Policy Condition failed: ["eq", "$success_action_status", "201"]',
    ],
    ['a damaged policy', (p) => set(p, 'policy', 'e30='), 403, 'SignatureDoesNotMatch'],
    ['a damaged signature', (p) => set(p, 'x-store-signature', 'ab'), 403, 'SignatureDoesNotMatch'],
    [
      'another access key',
      (p) => set(p, 'x-store-credential', 'STIA0/20270104/local-1/store/store4_request'),
      403,
      'InvalidAccessKeyId',
    ],
    ['a damaged token', (p) => set(p, 'x-store-security-token', 'abc.def'), 400, 'InvalidToken'],
    [
      'no policy',
      (p) => p.filter(([name]) => name !== 'policy'),
      400,
      'InvalidArgument',
      "Bucket POST must contain a field named 'policy'.",
    ],
    [
      'no key',
      (p) => p.filter(([name]) => name !== 'key'),
      400,
      'InvalidArgument',
      "Bucket POST must contain a field named 'key'.",
    ],
    [
      'no proof at all',
      (p) => p.filter(([name]) => ['key', 'file'].includes(name)),
      403,
      'AccessDenied',
      'Access Denied',
    ],
    [
      'a field after the file',
      (p) => [...p.filter(([name]) => name !== 'x-store-signature'), ['x-store-signature', 'late']],
      400,
      'InvalidArgument',
      "Bucket POST must contain a field named 'x-store-signature'.",
    ],
    ['an ignored field after the file', (p) => [...p, ['note', 'late']], 201, ''],
    ['two files', (p) => [...p, ['file', 'again']], 400, 'IncorrectNumberOfFilesInPostRequest'],
    [
      'no file',
      (p) => p.filter(([name]) => name !== 'file'),
      400,
      'InvalidArgument',
      'POST requires exactly one file upload per request.',
    ],
    [
      'a field twice',
      (p) => [...p.slice(0, 1), ...p],
      400,
      'InvalidArgument',
      "Bucket POST must contain exactly one field named 'key'.",
    ],
    [
      'more than 20 KB before the file',
      (p) => [['x-ignore-pad', 'x'.repeat(20_480)], ...p],
      400,
      'MaxPostPreDataLengthExceededError',
    ],
  ]

  it.each(cases)(
    'with %s is answered with %i %s, and stores the file only with 201',
    async (_, change, status, code, message = '') => {
      await using box = await sandbox()
      const form = await presign(box.url)

      const reply = await post(form.url, change(partsOf(form, '<a/>')))

      expect(reply.status).toBe(status)
      expect(codeOf(reply) ?? '').toBe(code)
      expect(messageOf(reply) ?? '').toContain(message)
      expect(box.objects()).toHaveLength(status === 201 ? 1 : 0)
    },
  )

  it('can have field names in any case', async () => {
    await using box = await sandbox()
    const form = await presign(box.url)
    const parts = partsOf(form, '<a/>').map(
      ([name, value]): Part => [name === 'policy' ? 'Policy' : name, value],
    )

    const reply = await post(form.url, parts)

    expect(reply.status).toBe(201)
  })

  it('can have a variable, which stands for the name of the file', async () => {
    await using box = await sandbox({ successStatus: 'feed.xml' })
    const form = await presign(box.url)
    const parts = set(partsOf(form, '<a/>'), 'success_action_status', '$'.concat('{filename}'))

    const reply = await post(form.url, parts)

    expect(reply.status).toBe(204)
  })

  it('expires with the policy, and with the token', async () => {
    let now = Date.parse('2027-01-04T10:00:00Z')
    await using box = await sandbox({ clock: { ...systemClock, now: () => now } })
    box.faults.add({
      at: 'service',
      kind: 'form',
      lifetimeMs: 24 * HOUR,
      tokenLifetimeMs: MINUTE,
      after: 1,
    })
    const ask = () => formAt(box.url, now)
    const [short, dying] = [await ask(), await ask()]

    now += 15 * MINUTE
    const replies = [
      await post(short.url, partsOf(short, '<a/>')),
      await post(dying.url, partsOf(dying, '<a/>')),
    ]

    expect(replies.map(codeOf)).toEqual(['AccessDenied', 'ExpiredToken'])
    expect(replies.map(messageOf)[0]).toBe('Invalid according to Policy: Policy expired.')
  })

  it('is too large or too small by the size of the file, not of the body', async () => {
    await using box = await sandbox({ contentLengthRange: [5, 10] })
    const store = async (bytes: number) => {
      const form = await presign(box.url)
      return post(form.url, partsOf(form, 'x'.repeat(bytes)))
    }

    const replies = [await store(4), await store(5), await store(10), await store(11)]

    expect(replies.map(({ status }) => status)).toEqual([400, 201, 201, 400])
    expect(replies[0]?.body).toContain(
      '<ProposedSize>4</ProposedSize><MinSizeAllowed>5</MinSizeAllowed>',
    )
    expect(replies[3]?.body).toContain(
      '<ProposedSize>11</ProposedSize><MaxSizeAllowed>10</MaxSizeAllowed>',
    )
    expect(replies.map(codeOf)).toEqual(['EntityTooSmall', undefined, undefined, 'EntityTooLarge'])
  })
})

describe('a request that is not a valid HTTP form', () => {
  it('is refused for its content type, boundary, service header, bucket, method or length', async () => {
    await using box = await sandbox()
    const form = await presign(box.url)
    const parts = partsOf(form, '<a/>')

    const replies = [
      await post(form.url, parts, { 'Content-Type': 'application/xml' }),
      await post(form.url, parts, { 'Content-Type': 'multipart/form-data' }),
      await post(form.url, parts, { 'X-SVC-Date': new Date().toUTCString() }),
      await post(`${new URL(form.url).origin}/other`, parts),
      await send(form.url, { method: 'GET' }),
      await send(form.url, {
        method: 'POST',
        headers: {
          'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`,
          'Transfer-Encoding': 'chunked',
        },
        body: multipart(parts),
      }),
    ]

    expect(replies.map((reply) => [reply.status, codeOf(reply)])).toEqual([
      [412, 'PreconditionFailed'],
      [400, 'MalformedPOSTRequest'],
      [400, 'InvalidRequest'],
      [404, 'NoSuchBucket'],
      [405, 'MethodNotAllowed'],
      [411, 'MissingContentLength'],
    ])
  })

  it('is refused as incomplete and stores nothing when the client hangs up early', async () => {
    await using box = await sandbox()
    const form = await presign(box.url)
    const body = multipart(partsOf(form, 'x'.repeat(1000)))
    using raw = new RawConnection(box.storageUrl)

    raw.write(postHead(form.url, body.length))
    raw.write(body.subarray(0, -10))
    raw.socket.end()

    expect(await raw.until('</Error>')).toContain('<Code>IncompleteBody</Code>')
    expect(box.objects()).toEqual([])
  })

  it('is refused with a timeout and stores nothing when the body stops coming', async () => {
    await using box = await sandbox({ idleTimeoutMs: 50 })
    const form = await presign(box.url)
    const body = multipart(partsOf(form, 'x'.repeat(1000)))
    using raw = new RawConnection(box.storageUrl)

    raw.write(postHead(form.url, body.length))
    raw.write(body.subarray(0, -10))

    expect(await raw.until('</Error>')).toContain('<Code>RequestTimeout</Code>')
    expect(box.objects()).toEqual([])
  })

  it.each([
    ['the closing boundary is missing', (body: Buffer) => body.subarray(0, -6)],
    ['a preamble comes first', (body: Buffer) => Buffer.concat([Buffer.from('hello\r\n'), body])],
  ])('is malformed when %s', async (_, change) => {
    await using box = await sandbox()
    const form = await presign(box.url)
    const body = change(multipart(partsOf(form, '<a/>')))

    const reply = await send(form.url, {
      body,
      headers: {
        'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`,
        'Content-Length': String(body.length),
      },
    })

    expect([reply.status, codeOf(reply)]).toEqual([400, 'MalformedPOSTRequest'])
  })

  it('appears in the log with 400 when bytes follow the announced length', async () => {
    await using box = await sandbox()
    const form = await presign(box.url)
    const body = multipart(partsOf(form, '<a/>'))
    using raw = new RawConnection(box.storageUrl)

    raw.write(postHead(form.url, body.length))
    raw.write(Buffer.concat([body, Buffer.from('too much')]))

    const seen = await waitForRequest(
      box,
      ({ route, status }) => route === 'unparseable' && status !== null,
    )
    expect(seen).toMatchObject({ side: 'storage', status: 400 })
  })
})

function set(parts: Part[], name: string, value: string): Part[] {
  return parts.map((part) => (part[0] === name ? [name, value] : part))
}

async function formAt(url: string, now: number): Promise<Form> {
  const headers = signedHeaders(PRESIGN, { Account: '123' }, new Date(now).toUTCString())
  return JSON.parse((await send(url + PRESIGN, { headers })).body)
}
