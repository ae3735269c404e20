import { describe, expect, it } from 'vitest'
import type { HttpReply } from '../../../src/lib/http.ts'
import { createFormSource, type FormSourceOptions } from '../../../src/service/form-source.ts'
import { FORM, sendForm, service } from '../../helpers/service/form-service.ts'

describe('a form', () => {
  const read = async (body: string) => {
    const { ask } = await service((_, response) => response.end(body))
    return ask()
  }

  it('keeps names and values byte for byte and in order, and ignores unknown members', async () => {
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
  ])('can lead to %s although a public field repeats a part of it: %o', async (url, more) => {
    const fields = { ...FORM.fields, ...more }

    const answer = await read(JSON.stringify({ url, fileUrl: `${url}a.xml`, fields }))

    expect(answer).toMatchObject({ kind: 'form', form: { url } })
  })

  it('can have a number as a field, null for an unused field, and no address of the file', async () => {
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
      'endlessly nested lists',
      `{"url":"${FORM.url}","fields":{"key":"a","n":${'['.repeat(1e5)}${']'.repeat(1e5)}}}`,
    ],
    ['a number that text cannot repeat', `{"url":"${FORM.url}","fields":{"key":"a","n":0.1}}`],
    ['a web page', '<!DOCTYPE html><title>hidden</title>'],
  ])(
    'is a temporary failure if the answer has %s, and no message repeats a part of it',
    async (_, body) => {
      const answer = await read(body)

      expect(answer).toMatchObject({ failure: { class: 'transient', status: 200 } })
      expect(JSON.stringify(answer)).not.toContain('hidden')
    },
  )
})

describe('a form that must not be posted', () => {
  const answered = async (body: string, change: Partial<FormSourceOptions> = {}) => {
    const { ask } = await service((_, response) => response.end(body), change)
    return ask()
  }
  const withFields = (fields: string) => `{"url":"${FORM.url}","fields":{"key":"a",${fields}}}`
  const withUrl = (url: string) => JSON.stringify({ ...FORM, url })

  it.each([
    ['an address in clear', withUrl('http://storage.example/hidden'), 'not an https address'],
    ['a path for an address', withUrl('/hidden'), 'not an address'],
    ['another scheme', withUrl('ftp://storage.example/hidden'), 'not an https address'],
    ['a script for an address', withUrl('javascript:hidden'), 'not an https address'],
    ['a user name', withUrl('https://hidden@storage.example/'), 'user name or password'],
    ['a password', withUrl('https://:hidden@storage.example/'), 'user name or password'],
    ['two addresses', `{"url":"https://hidden/",${JSON.stringify(FORM).slice(1)}`, '"url" twice'],
    ['a field called file', withFields('"file":"hidden"'), 'called "file"'],
    ['a field called FILE', withFields('"FILE":"hidden"'), 'called "file"'],
    ['a field twice', withFields('"b":"hidden","b":"hidden2"'), 'a field twice'],
    ['a field twice, escaped', withFields('"b":"hidden","\\u0062":"2"'), 'a field twice'],
    ['a field twice, in another case', withFields('"Key":"hidden"'), 'a field twice'],
    ['a field without a name', withFields('"":"hidden"'), 'no name'],
    ['a line end in a name', withFields('"a\\r\\nb":"hidden"'), 'control character'],
    ['half a character in a value', withFields('"b":"hidden\\ud800"'), 'cannot be sent'],
    ['half a character in a name', withFields('"b\\udc00":"hidden"'), 'cannot be sent'],
  ])(
    'is broken for %s; the reason says so and repeats no part of the form',
    async (_, body, reason) => {
      const answer = await answered(body)

      expect(answer).toMatchObject({
        failure: { class: 'broken', code: 'bad-form', reason: expect.stringContaining(reason) },
      })
      expect(JSON.stringify(answer)).not.toContain('hidden')
    },
  )

  it('can name this machine with http: only if the service is on this machine, too', async () => {
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
    'is refused if it leads to the service itself (/%s)',
    async (path) => {
      const { ask, options } = await service((_, response) =>
        response.end(withUrl(`${options.baseUrl}${path}`)),
      )

      expect(await ask()).toMatchObject({
        failure: { class: 'broken', reason: expect.stringContaining('the service itself') },
      })
    },
  )

  it('is refused, with that reason, if the body is not UTF-8', async () => {
    const body = Buffer.from(withFields('"b":"\u00e9"'), 'latin1')
    const { ask } = await service((_, response) => response.end(body))

    expect(await ask()).toMatchObject({ failure: { reason: expect.stringContaining('UTF-8') } })
  })
})
