import { createHmac } from 'node:crypto'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Clock, MINUTE, systemClock } from '../../../src/lib/clock.ts'
import { createHttpClient, type HttpReply } from '../../../src/lib/http.ts'
import { silentLog } from '../../../src/lib/silent-log.ts'
import { createFormSource, type FormSourceOptions } from '../../../src/service/form-source.ts'

const SECRET = 'a secret of the tests'
const PATH = '/v1/presigned-storage-posting-post'
const FORM = {
  url: 'https://storage.example/feeds',
  fileUrl: 'https://storage.example/feeds/a.xml',
  fields: { key: 'a.xml', policy: 'cG9saWN5', 'x-store-signature': 'ab' },
}
const NOW = Date.UTC(2026, 0, 31, 12, 0, 5)

type Handler = (request: IncomingMessage, response: ServerResponse, n: number) => void

const sendForm: Handler = (_, response) => response.end(JSON.stringify(FORM))

/** A service that answers by `handler`, and a form source for it. */
async function service(handler: Handler, change: Partial<FormSourceOptions> = {}) {
  const seen: IncomingMessage[] = []
  const server = createServer((request, response) => {
    seen.push(request)
    response.sendDate = false
    handler(request, response, seen.length)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const directory = await mkdtemp(join(tmpdir(), 'feedsyncd-service-'))
  const keyFile = join(directory, 'service.key')
  await writeFile(keyFile, `${SECRET}\n`)
  const clock: Clock = { ...systemClock, now: () => NOW }
  const http = createHttpClient({ clock, env: {} })
  onTestFinished(async () => {
    await http[Symbol.asyncDispose]()
    server.close()
    await rm(directory, { recursive: true })
  })
  const options: FormSourceOptions = {
    ...{ http, clock, log: silentLog },
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`,
    identity: { partner: 'acme', partnerAccount: '42' },
    headerPrefix: 'X-SVC-',
    presignPath: PATH,
    ...change,
    auth: {
      ...{ method: 'signature', algorithm: 'hmac-sha1', keyFile },
      stringToSign: '{method}{path}?{query};{body};{date}',
      ...change.auth,
    },
  }
  const forms = createFormSource(options)
  const ask = (account: string | null = null) =>
    forms.requestForm(account, new AbortController().signal)
  return { forms, ask, seen, keyFile, options }
}

const signed = (text: string, secret = SECRET) =>
  createHmac('sha1', secret).update(text).digest('base64')

describe('a request for a form', () => {
  it('carries the date, the identity and a signature over the path below the base address', async () => {
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

  it('names the account alone when that is the identity', async () => {
    const { ask, seen } = await service(sendForm, { identity: { account: '123' } })

    await ask()

    expect(seen[0]?.headers).toMatchObject({ 'x-svc-account': '123' })
    expect(seen[0]?.headers).not.toHaveProperty('x-svc-partner')
    expect(seen[0]?.headers).not.toHaveProperty('x-svc-partneraccount')
  })

  it('names the partner alone on the bulk route', async () => {
    const presignPath = '/v1/presigned-storage-bulk-posting-post'
    const { ask, seen } = await service(sendForm, { presignPath, identity: { partner: 'acme' } })

    await ask()

    expect(seen[0]?.url).toBe(`/api${presignPath}`)
    expect(seen[0]?.headers).not.toHaveProperty('x-svc-partneraccount')
  })

  it('names the account of the feed in place of the configured one', async () => {
    const { ask, seen } = await service(sendForm)

    await ask('77')

    expect(seen[0]?.headers).toMatchObject({ 'x-svc-partneraccount': '77' })
  })

  it('is not made for an account of a feed when the identity cannot name it', async () => {
    const { ask, seen } = await service(sendForm, { identity: { account: '123' } })

    const answer = await ask('77')

    expect(answer).toMatchObject({
      failure: { class: 'broken', code: 'account-without-partner' },
    })
    expect(seen).toEqual([])
  })

  it('is not made for a partner without a partner account, but on the bulk route', async () => {
    const identity = { partner: 'acme' }
    const { forms, ask, seen } = await service(sendForm, { identity })
    const { signal } = new AbortController()

    const answer = await forms.requestForm(null, signal, 'north/jobs.xml')

    const reason = 'no partner account: no rule names one for north/jobs.xml'
    expect(answer).toMatchObject({
      failure: { class: 'broken', code: 'no-partner-account', reason, origin: null },
    })
    expect(seen).toEqual([])
    expect(await ask('77')).toMatchObject({ kind: 'form' })
    const presignPath = '/v1/presigned-storage-bulk-posting-post'
    const bulk = await service(sendForm, { identity, presignPath })
    expect(await bulk.ask()).toMatchObject({ kind: 'form' })
    expect(bulk.seen[0]?.headers).toMatchObject({ 'x-svc-partner': 'acme' })
    expect(bulk.seen[0]?.headers).not.toHaveProperty('x-svc-partneraccount')
  })

  it.each(['', ' 42', 'zürich', '42\r\nX-SVC-Account: 1', '\u{1F600}'])(
    'is not made for an account that no header can carry (%j)',
    async (account) => {
      const { ask, seen } = await service(sendForm)

      const answer = await ask(account)

      expect(answer).toMatchObject({
        failure: { class: 'broken', code: 'account-unusable' },
      })
      expect(seen).toEqual([])
    },
  )

  it('signs the query of the path apart from it, and takes another header prefix', async () => {
    const { ask, seen } = await service(sendForm, {
      ...{ presignPath: `${PATH}?kind=a%20b`, headerPrefix: 'X-Acme-' },
    })

    await ask()

    const date = seen[0]?.headers['x-acme-date']
    expect(seen[0]?.headers['x-acme-signature']).toBe(signed(`POST${PATH}?kind=a%20b;;${date}`))
  })

  it('carries the API key in place of a signature', async () => {
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
    'dates the request once more when ours is wrong (%i), and stays in use',
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
      // Our time went on by some ms since.
      expect(Math.round((forms.clockSkewMs() ?? 0) / MINUTE)).toBe(20)
    },
  )

  it('dates each of several requests once more that were refused at the same time', async () => {
    const { ask } = await service((request, response, n) => {
      response.setHeader('date', ahead)
      if (request.headers['x-svc-date'] === ahead) sendForm(request, response, n)
      else response.writeHead(401).end()
    })

    const answers = await Promise.all([ask(), ask(), ask()])

    expect(answers.map(({ kind }) => kind)).toEqual(['form', 'form', 'form'])
  })

  it('is tried once only', async () => {
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
  ])('is not believed from a Date %s', async (_, headers) => {
    const { ask, seen } = await service((_, response) => response.writeHead(403, headers).end())

    const answer = await ask()

    expect(answer).toMatchObject({ failure: { class: 'credentials' } })
    expect(seen).toHaveLength(1)
  })
})

describe('a form', () => {
  const read = async (body: string) => {
    const { ask } = await service((_, response) => response.end(body))
    return ask()
  }

  it('keeps names and values byte for byte and in order, and what is unknown is left alone', async () => {
    const fields = {
      'x-store-b': 'line\nline\r\n"quoted" ü \u{1F600}',
      key: 'a.xml',
      'odd "name"': '',
      'x-store-a': '  spaces  ',
    }

    const answer = await read(`\uFEFF${JSON.stringify({ more: [1], ...FORM, fields })}`)

    expect(answer).toEqual({
      kind: 'form',
      form: { url: FORM.url, fileUrl: FORM.fileUrl, fields: Object.entries(fields) },
    })
  })

  it('keeps the order of names that look like numbers, and any text in names and values', async () => {
    const fields = [
      ['x-store-b', '"7": not a name'],
      ['10', 'ten'],
      ['__proto__', '{"key":"no"}'],
      ['2', 'two\\'],
      ['odd \\": name', ''],
      ['key', 'a.xml'],
    ]
    const written = fields.map(
      ([name, value]) => `${JSON.stringify(name)} : ${JSON.stringify(value)}`,
    )

    const answer = await read(
      `{"url":"${FORM.url}","fileUrl":"${FORM.fileUrl}","fields":{${written}}}`,
    )

    expect(answer).toMatchObject({ kind: 'form', form: { fields } })
  })

  it.each([
    ['https://feeds-incoming.store.example/', { bucket: 'feeds-incoming' }],
    ['https://up.store.example/', { success_action_redirect: 'https://www.store.example/done' }],
    ['https://up.store.example/', { redirect: 'https://up.store.example/done' }],
    ['https://no-cache.store.example/', { 'Cache-Control': 'no-cache' }],
  ])('may lead to %s while a field says as much: %o', async (url, more) => {
    const fields = { ...FORM.fields, ...more }

    const answer = await read(JSON.stringify({ url, fileUrl: `${url}a.xml`, fields }))

    expect(answer).toMatchObject({ kind: 'form', form: { url } })
  })

  it('may have a number for a field, and leave out what it does not use', async () => {
    const fields = { key: 'a', success_action_status: 201, 'x-store-security-token': null }

    const answers = [
      await read(JSON.stringify({ ...FORM, fields, fileUrl: null })),
      await read(JSON.stringify({ ...FORM, fields, fileUrl: undefined })),
    ]

    const read201 = [
      ['key', 'a'],
      ['success_action_status', '201'],
    ]
    const form = { url: FORM.url, fileUrl: null, fields: read201 }
    expect(answers).toEqual([
      { kind: 'form', form },
      { kind: 'form', form },
    ])
  })

  it.each([
    ['no JSON', '{"url": "https://storage.example/?token=hidden'],
    ['nothing', ''],
    ['a list', '[]'],
    ['null', 'null'],
    ['no url', JSON.stringify({ ...FORM, url: undefined })],
    ['no fields', JSON.stringify({ ...FORM, fields: undefined })],
    ['no key', JSON.stringify({ ...FORM, fields: { policy: 'hidden' } })],
    ['a list for a field', JSON.stringify({ ...FORM, fields: { key: 'a', n: ['hidden'] } })],
    [
      'lists in each other without end',
      `{"url":"${FORM.url}","fields":{"key":"a","n":${'['.repeat(1e5)}${']'.repeat(1e5)}}}`,
    ],
    ['a number that text cannot repeat', `{"url":"${FORM.url}","fields":{"key":"a","n":0.1}}`],
    ['a web page', '<!DOCTYPE html><title>hidden</title>'],
  ])('is asked for again when it holds %s, and nothing of it is repeated', async (_, body) => {
    const answer = await read(body)

    expect(answer).toMatchObject({ failure: { class: 'transient', status: 200 } })
    expect(JSON.stringify(answer)).not.toContain('hidden')
  })
})

describe('a form that must not be posted', () => {
  const answered = async (body: string, change: Partial<FormSourceOptions> = {}) => {
    const { ask } = await service((_, response) => response.end(body), change)
    return ask()
  }
  const withFields = (fields: string) => `{"url":"${FORM.url}","fields":{"key":"a",${fields}}}`
  const withUrl = (url: string) => JSON.stringify({ ...FORM, url })

  it.each([
    ['an address in clear', withUrl('http://storage.example/'), 'not an https address'],
    ['an address that is none', withUrl('/feeds'), 'no address'],
    ['another scheme', withUrl('ftp://storage.example/hidden'), 'not an https address'],
    ['a script for an address', withUrl('javascript:hidden'), 'not an https address'],
    ['a user name', withUrl('https://hidden@storage.example/'), 'user name or password'],
    ['a password', withUrl('https://:hidden@storage.example/'), 'user name or password'],
    ['two addresses', `{"url":"${FORM.url}",${JSON.stringify(FORM).slice(1)}`, '"url" twice'],
    ['a field called file', withFields('"file":"hidden"'), 'called "file"'],
    ['a field called FILE', withFields('"FILE":"hidden"'), 'called "file"'],
    ['a field twice', withFields('"b":"hidden","b":"hidden2"'), 'field "b" twice'],
    ['a field twice, escaped', withFields('"b":"1","\\u0062":"2"'), 'field "b" twice'],
    ['a field twice, in another case', withFields('"Key":"hidden"'), 'field "Key" twice'],
    ['a field without a name', withFields('"":"hidden"'), 'no name'],
    ['a line end in a name', withFields('"a\\r\\nb":"hidden"'), 'control character'],
    ['half a character in a value', withFields('"b":"hidden\\ud800"'), 'not text'],
    ['half a character in a name', withFields('"b\\udc00":"hidden"'), 'not text'],
  ])('is refused, with the reason: %s', async (_, body, reason) => {
    const answer = await answered(body)

    expect(answer).toMatchObject({
      ...{
        failure: { class: 'broken', code: 'bad-form', reason: expect.stringContaining(reason) },
      },
    })
    expect(JSON.stringify(answer)).not.toContain('hidden')
  })

  it('names this machine in clear only when the service is on it, too', async () => {
    const { options } = await service(sendForm)
    const body = withUrl('http://127.0.0.1:9/feeds')
    const reply: HttpReply = {
      ...{ kind: 'answer', status: 200, headers: {}, body: Buffer.from(body) },
      ...{ bodyCut: false, bytesSent: 0, sentAll: true, tookMs: 1 },
    }
    const http = { ...options.http, request: async () => reply }
    const forms = createFormSource({ ...options, http, baseUrl: 'https://api.example.com/' })

    expect(await answered(body)).toMatchObject({ kind: 'form' })
    expect(await forms.requestForm(null, new AbortController().signal)).toMatchObject({
      failure: { reason: expect.stringContaining('not an https address') },
    })
  })

  it.each(['', 'v1/presigned-storage-posting-post', 'v1/campaigns'])(
    'leads to the service itself (/%s)',
    async (path) => {
      const { ask, options } = await service((_, response) =>
        response.end(withUrl(`${options.baseUrl}${path}`)),
      )

      expect(await ask()).toMatchObject({
        failure: { class: 'broken', reason: expect.stringContaining('the service itself') },
      })
    },
  )

  it('is none where the body is not UTF-8', async () => {
    const body = Buffer.from(withFields('"b":"\u00e9"'), 'latin1')
    const { ask } = await service((_, response) => response.end(body))

    expect(await ask()).toMatchObject({ failure: { reason: expect.stringContaining('UTF-8') } })
  })
})

describe('a redirect', () => {
  it.each([301, 302, 307, 308])('(%i) is not followed, and says where it leads', async (status) => {
    const location = 'https://new.example/api/v1/presigned-storage-posting-post?token=hidden'
    const { ask, seen } = await service((_, response) =>
      response.writeHead(status, { location }).end(),
    )

    const answer = await ask()

    expect(seen).toHaveLength(1)
    expect(answer).toMatchObject({
      failure: { class: 'transient', hint: expect.stringContaining('service.baseUrl') },
    })
    const reason = answer.kind === 'failure' ? answer.failure.reason : ''
    expect(reason).toContain('https://new.example/api/v1/presigned-storage-posting-post (3')
    expect(reason).not.toContain('hidden')
  })
})

describe('a refusal', () => {
  it('is quoted in short, without what looks like a secret', async () => {
    const { ask } = await service((request, response) => {
      const signature = request.headers['x-svc-signature']
      response.writeHead(400)
      response.end(
        `{"message":"bad date","got":"${signature}","key":"${SECRET}"}${'x '.repeat(9999)}`,
      )
    })

    const answer = await ask()

    const reason = answer.kind === 'failure' ? answer.failure.reason : ''
    expect(reason).toContain('bad date')
    expect(reason).not.toContain(SECRET)
    expect(reason).not.toMatch(/[A-Za-z0-9+/]{27}=/)
    expect(reason.length).toBeLessThan(400)
  })

  it.each([
    ['30', 30_000],
    ['0', 0],
    ['-5', null],
    ['soon', null],
    ['999999', 60 * MINUTE],
    [new Date(NOW + 45_000).toUTCString(), 45_000],
  ])('says when to come back: %s', async (retryAfter, expected) => {
    const { ask } = await service((_, response) =>
      response.writeHead(503, { 'retry-after': retryAfter }).end(),
    )

    expect(await ask()).toMatchObject({ failure: { retryAfterMs: expected } })
  })
})

describe('the key file', () => {
  const problem = async (change: (keyFile: string) => Promise<unknown>) => {
    const { options, keyFile } = await service(sendForm)
    await change(keyFile)
    try {
      createFormSource(options)
    } catch (error) {
      return error
    }
    return null
  }

  it.each([
    ['is missing', (file: string) => rm(file), 'does not exist (ENOENT)'],
    ['is empty', (file: string) => writeFile(file, ''), 'is empty'],
    ['holds a newline alone', (file: string) => writeFile(file, '\n'), 'is empty'],
    ['is too long', (file: string) => writeFile(file, 'x'.repeat(70_000)), 'is larger than 64 KiB'],
  ])('that %s is a configuration error with a way out', async (_, change, message) => {
    expect(await problem(change)).toMatchObject({
      ...{ name: 'FeedsyncError', exitCode: 78, hint: expect.stringContaining('keyFile') },
      message: expect.stringContaining(message),
    })
  })

  it('may be a folder by mistake, and that is said', async () => {
    const { options } = await service(sendForm)
    const auth = { ...options.auth, keyFile: tmpdir() }

    expect(() => createFormSource({ ...options, auth })).toThrow('is a folder')
  })

  it('loses one newline, and no other byte', async () => {
    const { ask, seen, keyFile, forms } = await service(sendForm)
    await writeFile(keyFile, ' key \n\r\n')
    await chmod(keyFile, 0o600)

    forms.reloadKey()
    await ask()

    const date = seen[0]?.headers['x-svc-date']
    expect(seen[0]?.headers['x-svc-signature']).toBe(signed(`POST${PATH}?;;${date}`, ' key \n'))
  })

  it('stays in use as it was when reloading fails', async () => {
    const { ask, seen, keyFile, forms } = await service(sendForm)
    await rm(keyFile)

    expect(() => forms.reloadKey()).toThrow('does not exist')
    await ask()

    const date = seen[0]?.headers['x-svc-date']
    expect(seen[0]?.headers['x-svc-signature']).toBe(signed(`POST${PATH}?;;${date}`))
  })
})
