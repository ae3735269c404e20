import { generateKeyPairSync, sign as signWith } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { MINUTE, SECOND, systemClock } from '../../../src/lib/clock.ts'
import type { Algorithm } from '../../../src/sandbox/service/signature.ts'
import {
  PRESIGN,
  presign,
  SECRET,
  send,
  sign,
  signedHeaders,
} from '../../helpers/sandbox/client.ts'
import { sandbox } from '../../helpers/sandbox/sandbox.ts'

const VALIDATE = '/v1/public-api/validate-authorization'
const BULK = '/v1/presigned-storage-bulk-posting-post'
const PUBLISHED_DATE = 'Mon, 31 Oct 2022 20:23:10 GMT'

const frozenAt = (ms: number) => ({ ...systemClock, now: () => ms })

describe('the signature', () => {
  it('of the published example is what the test client makes, and is accepted with a JSON string', async () => {
    await using box = await sandbox({ clock: frozenAt(Date.parse(PUBLISHED_DATE)) })

    const reply = await send(box.url + VALIDATE, {
      headers: {
        'X-SVC-Account': '123',
        'X-SVC-Date': PUBLISHED_DATE,
        'X-SVC-Signature': '5hY9zBIziUhrAqfEIfSsQB4HddU=',
      },
    })

    expect(sign(VALIDATE, PUBLISHED_DATE)).toBe('5hY9zBIziUhrAqfEIfSsQB4HddU=')
    expect(reply.status).toBe(200)
    expect(typeof JSON.parse(reply.body)).toBe('string')
  })

  it('covers the exact body and query, and a refusal says what differs', async () => {
    await using box = await sandbox()
    const date = new Date().toUTCString()
    const headers = {
      'X-SVC-Account': '123',
      'X-SVC-Date': date,
      'X-SVC-Signature': sign(PRESIGN, date, '{"a":1}'),
    }

    const same = await send(box.url + PRESIGN, { headers, body: '{"a":1}' })
    const otherBody = await send(box.url + PRESIGN, { headers, body: '{"a":1} ' })
    const otherQuery = await send(`${box.url}${PRESIGN}?b=2`, { headers, body: '{"a":1}' })

    expect([same.status, otherBody.status, otherQuery.status]).toEqual([200, 401, 401])
    expect(JSON.parse(otherQuery.body)).toEqual({
      code: 'signature-mismatch',
      message: 'the signature does not match the request: the query was not signed',
      differs: 'query',
      stringToSign: `POST${PRESIGN}?b=2;{"a":1};${date}`,
    })
  })

  it('does not cover the path of the base address, which has no slash at its end', async () => {
    await using box = await sandbox({ basePath: '/deep/api/' })
    const date = new Date().toUTCString()

    const reply = await send(box.url + PRESIGN, {
      headers: { ...signedHeaders(PRESIGN), 'X-SVC-Signature': sign(`/deep/api${PRESIGN}`, date) },
    })

    expect(box.url).toMatch(/\/deep\/api$/)
    expect(reply.status).toBe(401)
    expect(await presign(box.url)).toHaveProperty('fields.key')
  })

  it.each<[Algorithm, string, () => { publicKey: string; sign(text: string): Buffer }]>([
    ['rsa-sha1', 'PKCS #1', () => pair('rsa', 'sha1')],
    ['rsa-sha256', 'PKCS #1', () => pair('rsa', 'sha256')],
    ['rsa-sha512', 'PKCS #1', () => pair('rsa', 'sha512')],
    ['rsa-pss-sha256', 'PSS', () => pair('rsa', 'sha256', { padding: 6, saltLength: 32 })],
    ['ecdsa-p256-sha256', 'DER', () => pair('ec', 'sha256')],
    ['ecdsa-p256-sha256', 'IEEE P1363', () => pair('ec', 'sha256', { dsaEncoding: 'ieee-p1363' })],
    ['ed25519', 'raw', () => pair('ed25519', null)],
  ])('is verified with a public key: %s, written as %s', async (algorithm, _, make) => {
    const key = make()
    await using box = await sandbox({
      stringToSign: '{method}\\n{path}\\n{date}',
      callers: [{ account: '123', secret: key.publicKey, algorithm }],
    })
    const date = new Date().toUTCString()
    const call = (text: string) =>
      send(box.url + PRESIGN, {
        headers: {
          'X-SVC-Account': '123',
          'X-SVC-Date': date,
          'X-SVC-Signature': key.sign(text).toString('base64'),
        },
      })

    const right = await call(`POST\n${PRESIGN}\n${date}`)
    const wrong = await call(`POST\n${PRESIGN}\n${date} `)

    expect([right.status, wrong.status]).toEqual([200, 401])
  })

  it('can be replaced by a valid API key, and not by another key', async () => {
    await using box = await sandbox()
    const call = (key: string) =>
      send(box.url + PRESIGN, {
        headers: {
          'X-SVC-Account': '123',
          'X-SVC-Date': new Date().toUTCString(),
          'X-SVC-ApiKey': key,
        },
      })

    const replies = await Promise.all([call('key-of-the-tests'), call('key-of-the-testz')])

    expect(replies.map(({ status }) => status)).toEqual([200, 401])
  })
})

describe('the date', () => {
  const now = Date.parse(PUBLISHED_DATE)

  it.each([
    ['exactly 15 minutes old', now - 15 * MINUTE, 200],
    ['a second older', now - 15 * MINUTE - SECOND, 401],
    ['exactly 15 minutes ahead', now + 15 * MINUTE, 200],
    ['a second further ahead', now + 15 * MINUTE + SECOND, 401],
  ])(
    'can differ by at most 15 minutes from the clock that the answer shows: %s',
    async (_, ms, status) => {
      await using box = await sandbox({ clock: frozenAt(now) })
      const headers = signedHeaders(PRESIGN, { Account: '123' }, new Date(ms).toUTCString())

      const reply = await send(box.url + PRESIGN, { headers })

      expect(reply.status).toBe(status)
      expect(reply.headers.date).toBe(PUBLISHED_DATE)
    },
  )

  it.each(['Tue, 31 Oct 2022 20:23:10 GMT', ''])(
    'must be a correct date of RFC 1123, not "%s"',
    async (date) => {
      await using box = await sandbox({ clock: frozenAt(now) })

      const reply = await send(box.url + PRESIGN, {
        headers: signedHeaders(PRESIGN, { Account: '123' }, date),
      })

      expect(reply.status).toBe(401)
      expect(JSON.parse(reply.body).code).toBe('date-malformed')
    },
  )
})

describe('the identity', () => {
  it.each<[string, Record<string, string>, number, string | undefined]>([
    [BULK, { Partner: 'acme' }, 200, undefined],
    [BULK, { Account: '123' }, 401, 'identity-missing'],
    [VALIDATE, { Partner: 'acme' }, 200, undefined],
  ])('for %s with %j is answered with %i and the code %s', async (path, who, status, code) => {
    await using box = await sandbox()

    const reply = await send(box.url + path, { headers: signedHeaders(path, who) })

    expect(reply.status).toBe(status)
    expect(JSON.parse(reply.body).code).toBe(code)
  })

  it('is read from headers with the configured prefix', async () => {
    await using box = await sandbox({ headerPrefix: 'X-Other-' })
    const headers = Object.entries(signedHeaders(PRESIGN)).map(([name, value]) => [
      name.replace('X-SVC-', 'X-Other-'),
      value,
    ])

    const reply = await send(box.url + PRESIGN, { headers: Object.fromEntries(headers) })

    expect(reply.status).toBe(200)
  })
})

describe('the form', () => {
  const clock = frozenAt(Date.parse('2027-01-04T10:15:30.123Z'))
  const date = 'Mon, 04 Jan 2027 10:15:30 GMT'

  it('names a new object each time, and its key ends with the partner and the time', async () => {
    await using box = await sandbox({ clock })

    const [one, two] = [await presign(box.url, date), await presign(box.url, date)]

    expect(one.fields.key).toMatch(/acme_20270104101530\.xml$/)
    expect(one.fields.key).not.toBe(two.fields.key)
  })

  it('has the addresses of the bucket and of the object', async () => {
    await using box = await sandbox({ clock })

    const form = await presign(box.url, date)

    expect(form.url).toBe(box.storageUrl)
    expect(form.fileUrl).toBe(`${box.storageUrl}/${form.fields.key}`)
  })

  it('has only the fields of an S3 form', async () => {
    await using box = await sandbox({ clock })

    const form = await presign(box.url, date)

    expect(Object.keys(form.fields).sort()).toEqual([
      'key',
      'policy',
      'success_action_status',
      'x-store-algorithm',
      'x-store-credential',
      'x-store-date',
      'x-store-security-token',
      'x-store-signature',
    ])
  })

  it('has a policy that ends after 15 minutes and allows a file of 1 byte to 5 GiB', async () => {
    await using box = await sandbox({ clock })

    const { policy: encoded = '' } = (await presign(box.url, date)).fields

    const policy = JSON.parse(Buffer.from(encoded, 'base64').toString())
    expect(policy.expiration).toBe('2027-01-04T10:30:30.123Z')
    expect(policy.conditions).toContainEqual(['content-length-range', 1, 5 * 2 ** 30])
  })

  it('is not issued by another method, on another route or outside the base address', async () => {
    await using box = await sandbox()

    const get = await send(box.url + PRESIGN, { method: 'GET' })
    const elsewhere = await send(`${box.url}/v1/nothing`)
    const outside = await send(`${new URL(box.url).origin}${PRESIGN}`)

    expect([get.status, elsewhere.status, outside.status]).toEqual([405, 404, 404])
  })
})

describe('the log of requests', () => {
  it('shows side, route, status, account and key, and no secret', async () => {
    await using box = await sandbox()
    const form = await presign(box.url)

    const [seen] = box.requests()

    expect(seen).toMatchObject({
      side: 'service',
      route: 'presign',
      status: 200,
      account: '42',
      key: form.fields.key,
    })
    const text = JSON.stringify(box.requests())
    for (const secret of [
      SECRET,
      form.fields.policy,
      form.fields['x-store-signature'],
      form.fields['x-store-security-token'],
    ]) {
      expect(text).not.toContain(secret)
    }
  })
})

function pair(type: 'rsa' | 'ec' | 'ed25519', hash: string | null, options = {}) {
  const { publicKey, privateKey } =
    type === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : type === 'ec'
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : generateKeyPairSync('ed25519')
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    sign: (text: string) => signWith(hash, Buffer.from(text), { key: privateKey, ...options }),
  }
}
