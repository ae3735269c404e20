import { describe, expect, it } from 'vitest'
import { HOUR, systemClock } from '../../../src/lib/clock.ts'
import {
  type Form,
  PRESIGN,
  RawConnection,
  type Reply,
  send,
  signedHeaders,
} from '../../helpers/sandbox/client.ts'
import { sandbox } from '../../helpers/sandbox/sandbox.ts'
import { waitForRequest } from '../../helpers/sandbox/waiting.ts'

const ask = (url: string, date?: string): Promise<Reply> =>
  send(url + PRESIGN, { headers: signedHeaders(PRESIGN, { Account: '123' }, date) })

/** rawRequest returns the bytes of a signed request for a form. */
const rawRequest = (url: string) => {
  const { host } = new URL(url)
  const headers = Object.entries(signedHeaders(PRESIGN)).map((pair) => pair.join(': '))
  return [
    `POST /api${PRESIGN} HTTP/1.1`,
    `Host: ${host}`,
    ...headers,
    'Content-Length: 0',
    '\r\n',
  ].join('\r\n')
}

describe('an answer of the service', () => {
  it.each([
    [{ retryAfter: '120' }, '120'],
    [{ retryAfter: 'soon' }, 'soon'],
    [{ retryAfter: '-1' }, '-1'],
    [{ retryAfter: { dateInMs: 90_000 } }, 'Mon, 04 Jan 2027 10:01:30 GMT'],
  ] as const)('has the given Retry-After: %j', async (fault, shown) => {
    await using box = await sandbox({
      clock: { ...systemClock, now: () => Date.parse('2027-01-04T10:00:00Z') },
    })
    box.faults.add({ at: 'service', kind: 'answer', status: 503, ...fault })

    const reply = await ask(box.url)

    expect(reply).toMatchObject({ status: 503, headers: { 'retry-after': shown } })
  })

  it('can be HTML with status 200, and is JSON after that', async () => {
    await using box = await sandbox()
    box.faults.add({
      at: 'service',
      kind: 'answer',
      status: 200,
      body: '<html>hello</html>',
      times: 1,
    })

    const replies = [await ask(box.url), await ask(box.url)]

    expect(replies.map(({ status, headers }) => [status, headers['content-type']])).toEqual([
      [200, 'text/html'],
      [200, 'application/json; charset=utf-8'],
    ])
  })

  it('can be damaged or empty JSON, or lack the address or the object key', async () => {
    await using box = await sandbox()
    const variants = ['truncated', 'invalid', 'empty', 'empty-object', 'no-url', 'no-key'] as const
    for (const variant of variants)
      box.faults.add({ at: 'service', kind: 'json', variant, times: 1 })

    const bodies: string[] = []
    for (const _ of variants) bodies.push((await ask(box.url)).body)

    for (const body of bodies.slice(0, 3)) expect(() => JSON.parse(body)).toThrow()
    expect(JSON.parse(bodies[3] ?? '')).toEqual({})
    expect(JSON.parse(bodies[4] ?? '')).toHaveProperty('fields.key')
    expect(JSON.parse(bodies[4] ?? '')).not.toHaveProperty('url')
    expect(JSON.parse(bodies[5] ?? '')).toHaveProperty('fields.policy')
    expect(JSON.parse(bodies[5] ?? '')).not.toHaveProperty('fields.key')
  })

  it('can have additional fields with a line break before the others', async () => {
    await using box = await sandbox()
    box.faults.add({ at: 'service', kind: 'json', variant: 'more-fields' })

    const form: Form = JSON.parse((await ask(box.url)).body)

    expect(Object.keys(form.fields).slice(0, 2)).toEqual(['x-ignore-note', 'key'])
    expect(form.fields['x-ignore-note']).toContain('\n')
  })

  it('can come late and byte by byte, by the given clock', async () => {
    const slept: number[] = []
    const clock = { ...systemClock, sleep: async (ms: number) => void slept.push(ms) }
    await using box = await sandbox({ clock })
    box.faults.add({ at: 'service', kind: 'slow', headersAfterMs: 3000, bytesPerSecond: 10 })

    const reply = await ask(box.url)

    expect(JSON.parse(reply.body)).toHaveProperty('url')
    expect(slept[0]).toBe(3000)
    expect(slept.slice(1)).toEqual(Array(reply.body.length).fill(100))
  })

  it('can be missing', async () => {
    await using box = await sandbox()
    box.faults.add({ at: 'service', kind: 'slow', never: true })
    using raw = new RawConnection(box.url)

    raw.write(rawRequest(box.url))
    await waitForRequest(box, ({ faults }) => faults.includes('slow'))
    await box.close()

    await raw.closed
    expect(raw.text).toBe('')
  })

  it('causes no error when the client has closed the connection', async () => {
    await using box = await sandbox()
    box.faults.add({ at: 'service', kind: 'slow', headersAfterMs: 20 })
    using raw = new RawConnection(box.url)

    raw.write(rawRequest(box.url))
    await waitForRequest(box, ({ faults }) => faults.includes('slow'))
    raw.socket.resetAndDestroy()

    const seen = await waitForRequest(box, ({ endedAt }) => endedAt !== null)
    expect(seen.code).toBeNull()
  })

  it('can be cut off before it begins', async () => {
    await using box = await sandbox()
    box.faults.add({ at: 'service', kind: 'drop', point: 'headers', how: 'rst' })

    await expect(ask(box.url)).rejects.toThrow(/ECONNRESET|hang up/)
  })
})

describe("the service's clock", () => {
  it('can be ahead in its Date and in the dates that it accepts', async () => {
    const now = Date.parse('2027-01-04T10:00:00Z')
    await using box = await sandbox({ clock: { ...systemClock, now: () => now } })
    box.faults.add({ at: 'service', kind: 'date', skewMs: HOUR })
    const at = (ms: number) => new Date(ms).toUTCString()

    const [ours, theirs] = [await ask(box.url, at(now)), await ask(box.url, at(now + HOUR))]

    expect(ours.status).toBe(401)
    expect(ours.headers.date).toBe('Mon, 04 Jan 2027 11:00:00 GMT')
    expect(theirs.status).toBe(200)
  })

  it('can be left out of successes and errors, or sent with an Age header', async () => {
    await using box = await sandbox()
    box.faults.add({ at: 'service', kind: 'date', ageSeconds: 300, times: 1 })
    box.faults.add({ at: 'service', kind: 'date', omit: true })
    box.faults.add({ at: 'service', kind: 'answer', status: 500, after: 2 })

    const replies = [await ask(box.url), await ask(box.url), await ask(box.url)]

    expect(replies.map(({ status }) => status)).toEqual([200, 200, 500])
    expect(replies[0]?.headers).toMatchObject({ age: '300', date: expect.any(String) })
    expect(replies.slice(1).map(({ headers }) => headers.date)).toEqual([undefined, undefined])
  })
})

describe('the service', () => {
  it('can refuse a correct signature', async () => {
    await using box = await sandbox()
    box.faults.add({ at: 'service', kind: 'signature-mismatch', times: 1 })

    const replies = [await ask(box.url), await ask(box.url)]

    expect(replies.map(({ status }) => status)).toEqual([401, 200])
  })

  it('can issue a form with the previous key, another status and another range', async () => {
    await using box = await sandbox()
    box.faults.add({
      at: 'service',
      kind: 'form',
      sameKey: true,
      successStatus: '202',
      contentLengthRange: [10, 20],
      after: 1,
    })

    const forms: Form[] = []
    for (let i = 0; i < 2; i++) forms.push(JSON.parse((await ask(box.url)).body))

    expect(forms[1]?.fields.key).toBe(forms[0]?.fields.key)
    expect(forms[1]?.fields.success_action_status).toBe('202')
    const policy = Buffer.from(forms[1]?.fields.policy ?? '', 'base64').toString()
    expect(policy).toContain('["content-length-range",10,20]')
  })
})
