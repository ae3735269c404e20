import { describe, expect, it } from 'vitest'
import type { FaultOf, FaultSubject } from '../../../src/sandbox/faults/fault-types.ts'
import { parseFaults } from '../../../src/sandbox/faults/fault-types.ts'
import { FaultBook } from '../../../src/sandbox/faults/faults.ts'
import { partsOf, post, presign, send } from '../../helpers/sandbox/client.ts'
import { sandbox } from '../../helpers/sandbox/sandbox.ts'
import { waitForObjects, waitForRequest } from '../../helpers/sandbox/waiting.ts'

const SUBJECT: FaultSubject = { route: 'presign', account: '42', key: null, reused: false }

type FaultConditions = Omit<FaultOf<'connection-close'>, 'at' | 'kind'>

/** played returns one character for each request: `x` if the request meets the fault. */
function played(conditions: FaultConditions, requests: number, subject = SUBJECT): string {
  const book = new FaultBook()
  book.add({ at: 'service', kind: 'answer', status: 500, ...conditions })
  return Array.from({ length: requests }, () =>
    book.choose('service', 'headers', subject).length > 0 ? 'x' : '.',
  ).join('')
}

describe('a rule', () => {
  it.each<[FaultConditions, string]>([
    [{}, 'xxxxxx'],
    [{ times: 2 }, 'xx....'],
    [{ after: 2, times: 3 }, '..xxx.'],
    [{ every: 2 }, 'x.x.x.'],
    [{ after: 1, every: 3 }, '.x..x.'],
    [{ route: 'validate' }, '......'],
    [{ account: '43' }, '......'],
    [{ route: 'presign', account: '42' }, 'xxxxxx'],
    [{ account: '42', times: 1 }, 'x.....'],
  ])('meets the requests that its conditions describe: %j', (conditions, expected) => {
    expect(played(conditions, 6)).toBe(expected)
  })

  it('meets a share of the requests: the same for the same seed, and others for another seed', () => {
    const run = played({ percent: 30, seed: 7 }, 1000)

    const share = run.replaceAll('.', '').length
    expect(share).toBeGreaterThan(250)
    expect(share).toBeLessThan(350)
    expect(played({ percent: 30, seed: 7 }, 1000)).toBe(run)
    expect(played({ percent: 30, seed: 8 }, 1000)).not.toBe(run)
  })

  it('is met once the `times` of an earlier rule are used up, and a modifier beside both', () => {
    const book = new FaultBook()
    const first = book.add({ at: 'service', kind: 'answer', status: 500, times: 1 })
    const second = book.add({ at: 'service', kind: 'drop', point: 'headers', how: 'rst', times: 1 })
    const slow = book.add({ at: 'service', kind: 'slow', headersAfterMs: 1 })

    const kinds = [1, 2, 3].map(() =>
      book.choose('service', 'headers', SUBJECT).map(({ rule }) => rule.kind),
    )

    expect(kinds).toEqual([['answer', 'slow'], ['drop', 'slow'], ['slow']])
    expect([first.played(), second.played(), slow.played()]).toEqual([1, 1, 3])
  })

  it('refuses a condition on the key if the fault comes before the key is known', () => {
    const book = new FaultBook()

    expect(() =>
      book.add({ at: 'storage', kind: 'drop', point: 'headers', how: 'rst', key: 'a' }),
    ).toThrow('the fault drop is chosen before the key is known: leave out "key"')
  })

  it('meets a request before its removal, and none after it', () => {
    const book = new FaultBook()
    const fault = book.add({ at: 'service', kind: 'connection-close' })

    expect(book.choose('service', 'headers', SUBJECT)).toEqual([fault])
    fault.remove()
    expect(book.choose('service', 'headers', SUBJECT)).toEqual([])
  })
})

describe('rules in JSON', () => {
  it('can be one rule or a list', () => {
    const rule = { at: 'storage', kind: 's3-error', code: 'SlowDown', retryAfter: '3', times: 2 }

    expect(parseFaults(JSON.stringify(rule))).toEqual([rule])
    expect(parseFaults(JSON.stringify([rule, rule]))).toEqual([rule, rule])
  })

  it.each([
    ['{', /^the faults are not JSON: /],
    ['[1]', /^faults\[0\]: expected an object, got 1$/],
    ['{"at":"storage","kind":"slowdown"}', /^faults\[0\]\.kind: expected one of refuse, drop, /],
    [
      '{"at":"service","kind":"s3-error","code":"SlowDown"}',
      /^faults\[0\]\.at: expected one of storage, got the string "service"$/,
    ],
    [
      '{"at":"storage","kind":"s3-error","code":"Slow"}',
      /^faults\[0\]\.code: expected one of AccessDenied, /,
    ],
    ['{"at":"storage","kind":"connection-close","tims":1}', /^faults\[0\]\.tims: unknown key$/],
    [
      '{"at":"storage","kind":"throttle"}',
      /^faults\[0\]\.bytesPerSecond: expected a number, but it is missing$/,
    ],
    [
      '{"at":"service","kind":"form","contentLengthRange":[1]}',
      /: expected two whole numbers, got a list$/,
    ],
    ['{"at":"service","kind":"toString"}', /^faults\[0\]\.kind: expected one of /],
  ])('name the first problem and its place: %s', (json, message) => {
    expect(() => parseFaults(json)).toThrow(message)
  })
})

describe('the control routes', () => {
  it('add, list with their counters, and clear faults', async () => {
    await using box = await sandbox()
    const control = (method: string, body = '') =>
      send(`${box.controlUrl}/faults`, { method, body })

    const added = await control('POST', '{"at":"service","kind":"answer","status":500}')
    await expect(presign(box.url)).rejects.toThrow('500')
    const listed = await control('GET')
    await control('DELETE')

    expect(added.status).toBe(201)
    expect(JSON.parse(listed.body)).toMatchObject([{ rule: { status: 500 }, played: 1 }])
    expect(await presign(box.url)).toHaveProperty('url')
  })

  it('show requests, the newest first, and objects', async () => {
    await using box = await sandbox()
    const form = await presign(box.url)
    await post(form.url, partsOf(form, '<a/>'))
    const shown = async (what: string) =>
      JSON.parse((await send(`${box.controlUrl}/${what}`, { method: 'GET' })).body)

    expect(await shown('requests')).toMatchObject([{ route: 'store' }, { route: 'presign' }])
    expect(await shown('objects')).toMatchObject([{ key: form.fields.key, bytes: 4 }])
  })

  it('refuse a wrong fault with 400 and the reason', async () => {
    await using box = await sandbox()

    const reply = await send(`${box.controlUrl}/faults`, { body: '{"kind":"x"}' })

    expect(reply.status).toBe(400)
    expect(JSON.parse(reply.body).message).toMatch(/^faults\[0\]\.kind: expected one of/)
  })
})

describe('waiting', () => {
  it('ends with an error that names the condition and the requests so far', async () => {
    await using box = await sandbox()
    await presign(box.url)

    await expect(waitForObjects(box, 2, 1)).rejects.toThrow(
      'waited for 2 objects; seen: service presign 200',
    )
    await expect(waitForRequest(box, ({ status }) => status === 999, 1)).rejects.toThrow(
      'status === 999; seen: service presign 200',
    )
  })
})
