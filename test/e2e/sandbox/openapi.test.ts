import { describe, expect, it } from 'vitest'
import type { ServedMessage } from '../../../src/sandbox/service/service.ts'
import { answerProblems, callsHeld, requestProblems } from '../../helpers/sandbox/contract.ts'
import { sandbox } from '../../helpers/sandbox/sandbox.ts'
import { CAMPAIGNS, call, create } from '../../helpers/sandbox/vendor.ts'

const CREATE: ServedMessage['call'] = {
  ...{ method: 'POST', path: CAMPAIGNS, query: '', url: 'http://a/v1/campaigns', now: 0 },
  body: Buffer.from('{"name":"Nurses"}'),
  header: (name) => (name === 'X-SVC-Date' ? 'Mon, 04 Jan 2027 10:00:00 GMT' : null),
  elapsed: () => 0,
}
const answered = (status: number, json: unknown) =>
  ({
    call: CREATE,
    served: {
      ...{ account: null, key: null },
      answer: {
        ...{ status, code: null, body: Buffer.from(JSON.stringify(json)) },
        headers: { 'content-type': 'application/json' },
      },
    },
  }) as unknown as ServedMessage

describe('the description of the service in OpenAPI', () => {
  it('is served with the address of the sandbox', async () => {
    const box = await sandbox()

    const answer = await fetch(`${box.controlUrl}/openapi.json`)
    const document = (await answer.json()) as { openapi: string; servers: object[]; paths: object }

    expect(document.openapi).toBe('3.1.0')
    expect(document.servers).toEqual([{ url: box.url }])
    expect(Object.keys(document.paths)).toContain('/v1/campaigns/{id}')
  })

  it('is compared with every call of a sandbox in the tests', async () => {
    const { url } = await sandbox()
    const before = callsHeld()

    await create(url)
    await call(url, 'GET', CAMPAIGNS)

    expect(callsHeld()).toBe(before + 2)
  })

  it.each<[string, Partial<ServedMessage['call']>]>([
    ['is not described', { path: '/v1/nothing' }],
    ['unknown parameter', { query: 'a=1' }],
    ['X-SVC-Date is missing', { header: () => null }],
    ['the body/budget', { body: Buffer.from('{"name":"A","budget":"9"}') }],
    ['the body must NOT have additional', { body: Buffer.from('{"name":"A","spend":9}') }],
    ["required property 'name'", { body: Buffer.from('{}') }],
  ])('finds a wrong request: %s', (problem, change) => {
    expect(requestProblems({ call: CREATE })).toEqual([])
    expect(requestProblems({ call: { ...CREATE, ...change } }).join()).toContain(problem)
  })

  it.each([
    ['the answer/spend', 200, { spend: null }],
    ['the answer/status', 200, { status: 4 }],
    ["required property 'code'", 400, { error: 'no' }],
  ])('finds a wrong answer: %s', (problem, status, json) => {
    expect(answerProblems(answered(200, { id: '1', spend: 0 }))).toEqual([])
    expect(answerProblems(answered(status, json)).join()).toContain(problem)
  })
})
