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
  it('of the published example is accepted', async () => {
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

  it('covers the exact body and query', async () => {
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

  it('does not cover the path of the base address', async () => {
    await using box = await sandbox({ basePath: '/deep/api/' })
    const date = new Date().toUTCString()

    const reply = await send(box.url + PRESIGN, {
      headers: { ...signedHeaders(PRESIGN), 'X-SVC-Signature': sign(`/deep/api${PRESIGN}`, date) },
    })

    expect(box.url).toMatch(/\/deep\/api$/)
    expect(reply.status).toBe(401)
    expect(await presign(box.url)).toHaveProperty('fields.key')
  })

  it.each<[Algorithm, () => { publicKey: string; sign(text: string): Buffer }]>([
    ['rsa-sha1', () => pair('rsa', 'sha1')],
    ['rsa-sha256', () => pair('rsa', 'sha256')],
    ['rsa-sha512', () => pair('rsa', 'sha512')],
    ['rsa-pss-sha256', () => pair('rsa', 'sha256', { padding: 6, saltLength: 32 })],
    ['ecdsa-p256-sha256', () => pair('ec', 'sha256')],
    ['ecdsa-p256-sha256', () => pair('ec', 'sha256', { dsaEncoding: 'ieee-p1363' })],
    ['ed25519', () => pair('ed25519', null)],
  ])('is verified with a public key: %s', async (algorithm, make) => {
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

  it('may be replaced by a valid API key', async () => {
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
  ])('may differ by at most 15 minutes: %s', async (_, ms, status) => {
    await using box = await sandbox({ clock: frozenAt(now) })
    const headers = signedHeaders(PRESIGN, { Account: '123' }, new Date(ms).toUTCString())

    const reply = await send(box.url + PRESIGN, { headers })

    expect(reply.status).toBe(status)
    expect(reply.headers.date).toBe(PUBLISHED_DATE)
  })

  it.each(['Tue, 31 Oct 2022 20:23:10 GMT', ''])(
    'must be written as RFC 1123: "%s"',
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
  it.each<[string, Record<string, string>, number]>([
    [BULK, { Partner: 'acme' }, 200],
    [BULK, { Account: '123' }, 401],
    [VALIDATE, { Partner: 'acme' }, 200],
  ])('for %s with %j is answered with %i', async (path, who, status) => {
    await using box = await sandbox()

    const reply = await send(box.url + path, { headers: signedHeaders(path, who) })

    expect(reply.status).toBe(status)
    if (status !== 200) expect(JSON.parse(reply.body)).toHaveProperty('message')
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
  it('names a new object each time, and its key ends with the partner and the time', async () => {
    await using box = await sandbox({ clock: frozenAt(Date.parse('2027-01-04T10:15:30.123Z')) })
    const who = { Partner: 'acme', PartnerAccount: '42' }
    const ask = async () => {
      const headers = signedHeaders(PRESIGN, who, 'Mon, 04 Jan 2027 10:15:30 GMT')
      return JSON.parse((await send(box.url + PRESIGN, { headers })).body)
    }

    const [one, two] = [await ask(), await ask()]

    expect(one.fields.key).toMatch(/acme_20270104101530\.xml$/)
    expect(one.fields.key).not.toBe(two.fields.key)
    expect(one.url).toBe(box.storageUrl)
    expect(one.fileUrl).toBe(`${box.storageUrl}/${one.fields.key}`)
    expect(Object.keys(one.fields).sort()).toEqual([
      'key',
      'policy',
      'success_action_status',
      'x-store-algorithm',
      'x-store-credential',
      'x-store-date',
      'x-store-security-token',
      'x-store-signature',
    ])
    const policy = JSON.parse(Buffer.from(one.fields.policy, 'base64').toString())
    expect(policy.expiration).toBe('2027-01-04T10:30:30.123Z')
    expect(policy.conditions).toContainEqual(['content-length-range', 1, 5 * 2 ** 30])
  })

  it('is refused on other routes and methods', async () => {
    await using box = await sandbox()

    const get = await send(box.url + PRESIGN, { method: 'GET' })
    const elsewhere = await send(`${box.url}/v1/nothing`)
    const outside = await send(`${new URL(box.url).origin}${PRESIGN}`)

    expect([get.status, elsewhere.status, outside.status]).toEqual([405, 404, 404])
  })
})

describe('the log of requests', () => {
  it('shows route, status, account and key, and no secret', async () => {
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
