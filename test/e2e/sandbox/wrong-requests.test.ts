import { createHmac } from 'node:crypto'
import { connect } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { SECRET } from '../../helpers/sandbox/client.ts'
import { sandbox } from '../../helpers/sandbox/sandbox.ts'
import { ACCOUNT, CAMPAIGNS, call, create } from '../../helpers/sandbox/vendor.ts'

/** createRaw creates a campaign with exactly these bytes as the body. */
async function createRaw(url: string, body: Buffer) {
  const date = new Date().toUTCString()
  const signature = createHmac('sha1', SECRET)
    .update(Buffer.concat([Buffer.from(`POST${CAMPAIGNS}?;`), body, Buffer.from(`;${date}`)]))
    .digest('base64')
  const headers = { ...ACCOUNT, 'X-SVC-Date': date, 'X-SVC-Signature': signature }
  const answer = await fetch(url + CAMPAIGNS, {
    method: 'POST',
    headers,
    body: new Uint8Array(body),
  })
  return { status: answer.status, ...((await answer.json()) as { message: string; name?: string }) }
}

/** raw sends bytes on a connection and returns everything that comes back. */
async function raw(url: string, head: string): Promise<string> {
  const { port } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(head)
  return await textOf(socket)
}

describe('the service refuses with 400, with the place,', () => {
  it('a body that is not UTF-8', async () => {
    const { url } = await sandbox()
    const body = Buffer.concat([Buffer.from('{"name":"N'), Buffer.from([0xfc]), Buffer.from('"}')])

    const answer = await createRaw(url, body)

    expect([answer.status, answer.message]).toEqual([
      ...[400, 'the body is not UTF-8: byte 11 is 0xfc'],
    ])
  })

  it.each([
    ['{"name":"A",\n "name":"B"}', 'the body has the name "name" twice: line 2, column 2'],
    ['{"name":"A","targeting":{"jobTitles":[],"\\u006aobTitles":[]}}', 'line 1, column 41'],
    ['{"name":"A",}', 'the body is not JSON: '],
  ])('a body that is not one JSON text: %s', async (body, message) => {
    const { url } = await sandbox()

    const answer = await createRaw(url, Buffer.from(body))

    expect([answer.status, answer.message]).toEqual([400, expect.stringContaining(message)])
  })

  it('but takes equal names in different objects, and quoted braces', async () => {
    const { url } = await sandbox()
    const cities = [
      { name: 'Boston', stateProvCode: 'MA' },
      { name: 'Toronto', stateProvCode: 'ON' },
    ]

    const answer = await create(url, { name: '{"a":1,"a":2}', targeting: { cities } })

    expect([answer.status, answer.json.name]).toEqual([200, '{"a":1,"a":2}'])
  })

  it.each([
    [{ budget: '5' }, 'budget: expected a number, got the string "5"'],
    [{ budget: -1 }, 'budget: expected an amount of 0 or more, got -1'],
    [{ status: 4 }, 'status: expected 1, 2 or 3, got 4'],
    [{ period: 2 }, 'period: expected 1 or null, got 2'],
    [{ color: 'red' }, 'color: unknown key'],
    [{ name: 'a\ud800' }, 'name: expected text without a lone surrogate'],
    [
      { endDate: 'soon' },
      'endDate: expected a date-time yyyy-MM-ddThh:mm:ssZ, got the string "soon"',
    ],
    [
      { targeting: { stateProvCodes: ['MA', 'Massachusetts'] } },
      'targeting.stateProvCodes[1]: expected a state code of two letters',
    ],
    [{ targeting: { stateProvCodes: [''] } }, 'targeting.stateProvCodes[0]: expected a state code'],
    [
      { targeting: { jobTitles: ['nurse', ''] } },
      'targeting.jobTitles[1]: expected text that is not blank',
    ],
    [
      { targeting: { requisitionIds: [' '] } },
      'targeting.requisitionIds[0]: expected text that is not blank',
    ],
    [
      { targeting: { cities: [{ name: 'Boston' }] } },
      'targeting.cities[0].stateProvCode: expected a string, but it is missing',
    ],
    [
      { targeting: { cities: [{ name: '', stateProvCode: 'MA' }] } },
      'targeting.cities[0].name: expected text',
    ],
  ])('a wrong value, with what was expected and which item: %j', async (fields, message) => {
    const { url } = await sandbox()

    const { status, json } = await create(url, fields)

    expect([status, json.message]).toEqual([400, expect.stringContaining(message)])
  })

  it('an amount that is too large for a number, and leads beyond int32', async () => {
    const box = await sandbox()
    const { json } = await create(box.url)

    const huge = await createRaw(box.url, Buffer.from('{"name":"A","budget":1e999}'))
    const leads = await fetch(`${box.controlUrl}/campaigns/${json.id}`, {
      method: 'PUT',
      body: '{"leads":2147483648}',
    })

    expect([huge.status, huge.message]).toEqual([
      ...[400, 'budget: expected a number, got Infinity'],
    ])
    expect(leads.status).toBe(400)
    expect(await leads.text()).toContain('leads: ')
  })

  it.each(['?Name=%zz', '?Name=%', '?Name=%ff'])(
    'a query with a wrong percent-encoding: %s',
    async (query) => {
      const { url } = await sandbox()

      const { status, json } = await call(url, 'GET', CAMPAIGNS + query)

      expect([status, json.message]).toEqual([400, 'the query has an invalid percent-encoding'])
    },
  )
})

describe('as HTTP says, the sandbox', () => {
  it('answers half a head with 408', async () => {
    const box = await sandbox({ headTimeoutMs: 400 })

    for (const url of [box.url, box.storageUrl]) {
      expect(await raw(url, 'GET /api HTTP/1.1\r\nHost: a\r\n')).toMatch(/^HTTP\/1\.1 408 /)
    }
  })

  it('takes the absolute form of a target, as proxies send it', async () => {
    const { url } = await sandbox()
    const date = new Date().toUTCString()
    const signature = createHmac('sha1', SECRET)
      .update(`GET${CAMPAIGNS}?;;${date}`)
      .digest('base64')

    const answer = await raw(
      url,
      `GET ${url}${CAMPAIGNS} HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n` +
        `X-SVC-Account: 123\r\nX-SVC-Date: ${date}\r\nX-SVC-Signature: ${signature}\r\n\r\n`,
    )

    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('names the allowed methods with a 405', async () => {
    const box = await sandbox()

    const service = await fetch(box.url + CAMPAIGNS, { method: 'DELETE' })
    const control = await fetch(`${box.controlUrl}/clock`, { method: 'POST' })
    const storage = await fetch(box.storageUrl, { method: 'PUT', body: 'x' })

    expect([service.status, service.headers.get('allow')]).toEqual([405, 'POST, GET'])
    expect([control.status, control.headers.get('allow')]).toEqual([405, 'GET, PUT'])
    expect([storage.status, storage.headers.get('allow')]).toEqual([405, 'POST'])
  })

  it('names its own address in self if a client of HTTP/1.0 sends no host', async () => {
    const { url } = await sandbox()
    const date = new Date().toUTCString()
    const signature = createHmac('sha1', SECRET)
      .update(`GET${CAMPAIGNS}?;;${date}`)
      .digest('base64')

    const answer = await raw(
      url,
      `GET /api${CAMPAIGNS} HTTP/1.0\r\nX-SVC-Account: 123\r\nX-SVC-Date: ${date}\r\n` +
        `X-SVC-Signature: ${signature}\r\n\r\n`,
    )

    expect(answer).toContain(`"self":"${url}${CAMPAIGNS}"`)
  })
})

describe('a fault', () => {
  it.each([
    [{ status: 200.5 }, 'status'],
    [{ status: -1 }, 'status'],
    [{ status: 600 }, 'status'],
    [{ times: -1 }, 'times'],
    [{ times: 0.5 }, 'times'],
    [{ every: 0 }, 'every'],
    [{ percent: 101 }, 'percent'],
    [{ route: 'campaigns' }, 'route'],
    [{ headers: { 'a b': 'c' } }, 'headers'],
    [{ headers: { a: 'b\r\nc: d' } }, 'headers.a'],
    [{ retryAfter: 'a\nb' }, 'retryAfter'],
    [{ key: 'a' }, 'key'],
    [{ color: 'red' }, 'color'],
  ])(
    'is refused with 400 and the place of its wrong key, and none is added: %j',
    async (wrong, key) => {
      const box = await sandbox()
      const right = { at: 'service', kind: 'answer', status: 503 }

      const answer = await fetch(`${box.controlUrl}/faults`, {
        method: 'POST',
        body: JSON.stringify([right, { ...right, ...wrong }]),
      })

      expect(answer.status).toBe(400)
      expect(((await answer.json()) as { message: string }).message).toMatch(
        new RegExp(`^faults\\[1\\]\\.${key}\\b`),
      )
      expect(box.faults.list()).toEqual([])
      expect((await create(box.url)).status).toBe(200)
    },
  )

  it.each(['fin', 'rst'] as const)(
    'that refuses all connections of the service by %s lets control routes pass, which can remove it',
    async (how) => {
      const box = await sandbox()
      box.faults.add({ at: 'service', kind: 'refuse', how })
      await expect(fetch(box.url + CAMPAIGNS)).rejects.toThrow()

      const removed = await fetch(`${box.controlUrl}/faults`, { method: 'DELETE' })

      expect(removed.status).toBe(200)
      expect((await create(box.url)).status).toBe(200)
    },
  )
})
