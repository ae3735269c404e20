import { writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { MINUTE } from '../../../src/lib/clock.ts'
import { createFormSource } from '../../../src/service/form-source.ts'
import {
  type Handler,
  NOW,
  PATH,
  SECRET,
  sendForm,
  service,
  signed,
} from '../../helpers/service/form-service.ts'

describe('a request for a form', () => {
  it('is an empty POST with the date, the partner and a signature over the path below the base address', async () => {
    const { ask, seen } = await service(sendForm)

    const answer = await ask()

    const date = 'Sat, 31 Jan 2026 12:00:05 GMT'
    expect(answer).toMatchObject({ kind: 'form' })
    expect(seen[0]).toMatchObject({ method: 'POST', url: `/api${PATH}` })
    expect(seen[0]?.headers).toMatchObject({
      'content-length': '0',
      'x-svc-partner': 'acme',
      'x-svc-partneraccount': '42',
      'x-svc-date': date,
      'x-svc-signature': signed(`POST${PATH}?;;${date}`),
    })
    expect(seen[0]?.headers).not.toHaveProperty('x-svc-account')
  })

  it('names only the account if the identity is an account', async () => {
    const { ask, seen } = await service(sendForm, { identity: { account: '123' } })

    await ask()

    expect(seen[0]?.headers).toMatchObject({ 'x-svc-account': '123' })
    expect(seen[0]?.headers).not.toHaveProperty('x-svc-partner')
    expect(seen[0]?.headers).not.toHaveProperty('x-svc-partneraccount')
  })

  it('names only the partner on the bulk route', async () => {
    const presignPath = '/v1/presigned-storage-bulk-posting-post'
    const { ask, seen } = await service(sendForm, { presignPath, identity: { partner: 'acme' } })

    await ask()

    expect(seen[0]?.url).toBe(`/api${presignPath}`)
    expect(seen[0]?.headers).toMatchObject({ 'x-svc-partner': 'acme' })
    expect(seen[0]?.headers).not.toHaveProperty('x-svc-partneraccount')
  })

  it('names the account of the feed instead of the configured one', async () => {
    const { ask, seen } = await service(sendForm)

    await ask('77')

    expect(seen[0]?.headers).toMatchObject({ 'x-svc-partneraccount': '77' })
  })

  it('is not sent for an account of a feed if the identity is an account', async () => {
    const { ask, seen } = await service(sendForm, { identity: { account: '123' } })

    const answer = await ask('77')

    expect(answer).toMatchObject({
      failure: { class: 'broken', code: 'account-without-partner' },
    })
    expect(seen).toEqual([])
  })

  it('is sent for a partner without a partner account only if the feed names one', async () => {
    const identity = { partner: 'acme' }
    const { forms, ask, seen } = await service(sendForm, { identity })
    const { signal } = new AbortController()

    const answer = await forms.requestForm(null, signal, 'north/jobs.xml')

    const reason = 'no rule gives a partner account for north/jobs.xml'
    expect(answer).toMatchObject({
      failure: { class: 'broken', code: 'no-partner-account', reason, origin: null },
    })
    expect(seen).toEqual([])
    expect(await ask('77')).toMatchObject({ kind: 'form' })
  })

  it.each(['', ' 42', 'zürich', '42\r\nX-SVC-Account: 1', '\u{1F600}'])(
    'is not sent for an account that a header cannot contain (%j)',
    async (account) => {
      const { ask, seen } = await service(sendForm)

      const answer = await ask(account)

      expect(answer).toMatchObject({
        failure: { class: 'broken', code: 'account-unusable' },
      })
      expect(seen).toEqual([])
    },
  )

  it('is signed over path and query apart, and uses the configured header prefix', async () => {
    const { ask, seen } = await service(sendForm, {
      ...{ presignPath: `${PATH}?kind=a%20b`, headerPrefix: 'X-Acme-' },
    })

    await ask()

    const date = seen[0]?.headers['x-acme-date']
    expect(seen[0]?.headers['x-acme-signature']).toBe(signed(`POST${PATH}?kind=a%20b;;${date}`))
  })

  it('carries the API key without its newline, and the date, instead of a signature', async () => {
    const { seen, keyFile, options } = await service(sendForm)
    await writeFile(keyFile, 'key-1\r\n')
    const forms = createFormSource({ ...options, auth: { ...options.auth, method: 'apiKey' } })

    await forms.requestForm(null, new AbortController().signal)

    expect(seen[0]?.headers).toMatchObject({
      'x-svc-apikey': 'key-1',
      'x-svc-date': expect.any(String),
    })
    expect(seen[0]?.headers).not.toHaveProperty('x-svc-signature')
  })
})

describe('the clock of the service', () => {
  const ahead = new Date(NOW + 20 * MINUTE).toUTCString()
  const refuseFirst =
    (status: number): Handler =>
    (request, response, n) => {
      response.setHeader('date', ahead)
      if (n === 1) response.writeHead(status).end()
      else sendForm(request, response, n)
    }

  it.each([400, 401, 403])(
    'dates the request again if our clock is wrong (%i), stays in use, and is reported',
    async (status) => {
      const { ask, seen, forms } = await service(refuseFirst(status))

      const first = await ask()
      await ask()

      expect(first.kind).toBe('form')
      expect(seen.map(({ headers }) => headers['x-svc-date'])).toEqual([
        new Date(NOW).toUTCString(),
        ahead,
        ahead,
      ])
      // Some ms passed since the answer.
      expect(Math.round((forms.clockSkewMs() ?? 0) / MINUTE)).toBe(20)
    },
  )

  it('dates each of several requests again if all were refused at the same time', async () => {
    const refused: (() => void)[] = []
    const { ask } = await service((request, response, n) => {
      response.setHeader('date', ahead)
      if (request.headers['x-svc-date'] === ahead) sendForm(request, response, n)
      else refused.push(() => response.writeHead(401).end())
      if (refused.length === 3) for (const refuse of refused.splice(0)) refuse()
    })

    const answers = await Promise.all([ask(), ask(), ask()])

    expect(answers.map(({ kind }) => kind)).toEqual(['form', 'form', 'form'])
  })

  it('is used for one repeat only; then the hint says how far our clock is behind', async () => {
    const { ask, seen } = await service((_, response) => {
      response.setHeader('date', ahead)
      response.writeHead(401).end()
    })

    const answer = await ask()

    expect(answer).toMatchObject({ failure: { class: 'credentials' } })
    expect(answer).toMatchObject({ failure: { hint: expect.stringContaining('1200 s behind') } })
    expect(seen).toHaveLength(2)
  })

  it.each([
    ['of a cache', { date: ahead, age: '3' }],
    ['that cannot be read', { date: 'yesterday' }],
    ['that is absent', {}],
    ['within a minute of ours', { date: new Date(NOW + 50_000).toUTCString() }],
  ])('does not date a request again because of a Date %s', async (_, headers) => {
    const { ask, seen } = await service((_, response) => response.writeHead(403, headers).end())

    const answer = await ask()

    expect(answer).toMatchObject({ failure: { class: 'credentials' } })
    expect(seen).toHaveLength(1)
  })
})

describe('a redirect', () => {
  it.each([301, 302, 307, 308])(
    '(%i) is not followed; the hint names the setting',
    async (status) => {
      const { ask, seen } = await service((_, response) =>
        response.writeHead(status, { location: '/elsewhere' }).end(),
      )

      const answer = await ask()

      expect(seen).toHaveLength(1)
      expect(answer).toMatchObject({
        failure: { class: 'transient', hint: expect.stringContaining('service.baseUrl') },
      })
    },
  )

  it('to another host is reported without its address', async () => {
    const location = 'https://hidden.example/hidden?token=hidden'
    const { ask } = await service((_, response) => response.writeHead(302, { location }).end())

    const answer = await ask()

    expect(answer).toMatchObject({ failure: { code: 'http-302' } })
    expect(JSON.stringify(answer)).not.toContain('hidden')
  })

  it.each([
    ['https://elsewhere.example/', 'another host'],
    ['https://127.0.0.1:1/', 'another protocol or port of the same host'],
    ['/login', 'another path of the same host'],
    ['https://', 'no usable address'],
  ])('to %s is described in our own words', async (location, place) => {
    const { ask } = await service((_, response) => response.writeHead(302, { location }).end())

    expect(await ask()).toMatchObject({
      failure: { reason: `the service redirects to ${place} (302)` },
    })
  })
})

describe('a refusal', () => {
  it('is quoted with its message only, without secrets', async () => {
    const { ask } = await service((request, response) => {
      const message = `bad date, with ${request.headers['x-svc-signature']} by ${SECRET}`
      response.writeHead(400).end(JSON.stringify({ got: 'hidden', message }))
    })

    expect(await ask()).toMatchObject({
      failure: {
        reason:
          'the service refused to give an upload form: 400: bad date, with [secret] by [secret]',
      },
    })
  })

  it.each([
    ['{"Message":"no account"}', ': no account'],
    ['{"error":"no account"}', ': no account'],
    ['{"title":"refused","detail":"no account"}', ': no account'],
    ['{"error":{"code":7,"message":"no account"}}', ': no account'],
    ['{"errors":[{"message":"no account"}]}', ': no account'],
    ['{"errors":["no account","no date"]}', ': no account'],
    ['{"message":""}', ''],
    ['{"message":7,"reason":"hidden"}', ''],
    ['"hidden"', ''],
    ['not JSON: hidden', ''],
    ['<html>hidden</html>', ' with a web page'],
    ['', ''],
  ])('is quoted only with a message under one of the usual names: %s', async (body, said) => {
    const { ask } = await service((_, response) => response.writeHead(500).end(body))

    expect(await ask()).toMatchObject({
      failure: { reason: `the service answered 500${said}` },
    })
  })

  it.each([
    ['30', 30_000],
    ['0', 0],
    ['-5', null],
    ['soon', null],
    ['999999', 60 * MINUTE],
    [new Date(NOW + 45_000).toUTCString(), 45_000],
  ])(
    'sets the wait for the next attempt by Retry-After, at most an hour: %s',
    async (retryAfter, expected) => {
      const { ask } = await service((_, response) =>
        response.writeHead(503, { 'retry-after': retryAfter }).end(),
      )

      expect(await ask()).toMatchObject({ failure: { retryAfterMs: expected } })
    },
  )
})
