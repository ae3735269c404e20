// Answers of storage as one line each: these pure functions need no socket.

import { describe, expect, it } from 'vitest'
import type { HttpReply } from '../../../src/lib/http.ts'
import { type Judgement, judgeNoAnswer, judgeReply } from '../../../src/upload/classify.ts'
import { readFormFacts } from '../../../src/upload/form.ts'

const MD5 = '0123456789abcdef0123456789abcdef'
const OTHER = 'f'.repeat(32)

function form(fields: Record<string, string> = {}, url = 'https://storage.example/feeds') {
  const entries = Object.entries({ key: 'a.xml', success_action_status: '201', ...fields })
  return readFormFacts({ url, fileUrl: `${url}/a.xml`, fields: entries })
}

function reply(status: number, headers: Record<string, string> = {}, body = ''): HttpReply {
  return {
    ...{ kind: 'answer', status, headers, bodyCut: false, bytesSent: 10, sentAll: true, tookMs: 1 },
    body: Buffer.from(body),
  }
}

const judge = (answer: HttpReply, facts = form()) => judgeReply(answer, { facts, md5: MD5 }, 0)

const xml = (code: string, message = 'x') =>
  `<?xml version="1.0"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`

describe('success', () => {
  it.each(['', ' '.repeat(64 * 1024)])(
    'is a 200 with a blank body, but not if the body broke off: then the file might be stored',
    (body) => {
      const facts = form({ success_action_status: '200' })
      const cut = { ...reply(200, {}, body), bodyCut: true }

      expect(judge(cut, facts)).toMatchObject({
        kind: 'failed',
        failure: { code: 'unconfirmed', ambiguous: true },
      })
      expect(judge(reply(200, {}, body), facts)).toMatchObject({ kind: 'stored' })
    },
  )

  it('can name the object key of the form in each way that storage writes it, and no other key', () => {
    const facts = form({ key: 'up load/\u0024{filename}' })
    const posted = (key: string) => reply(201, {}, `<PostResponse><Key>${key}</Key></PostResponse>`)

    for (const key of ['up load/feed.xml', 'up%20load/feed.xml', 'up%20load%2Ffeed.xml'])
      expect(judge(posted(key), facts)).toMatchObject({ kind: 'stored' })
    expect(judge(posted('up load/other.xml'), facts)).toMatchObject({ kind: 'failed' })
  })

  it.each([
    ['201', 201],
    ['200', 200],
    ['204', 204],
    ['', 204],
    ['404', 204],
    ['nonsense', 204],
    ['202', 202],
  ])(
    'for a form with status "%s" is %i; another status gives a warning and needs an ETag',
    (named, status) => {
      const facts = form({ success_action_status: named })

      expect(judge(reply(status, { etag: `"${MD5}"` }), facts)).toEqual({
        ...{ kind: 'stored', etagVerified: true, warning: null },
      })
      const other = status === 200 ? 204 : 200
      expect(judge(reply(other, { etag: MD5 }), facts)).toMatchObject({
        ...{ kind: 'stored', warning: expect.stringContaining(String(status)) },
      })
      expect(judge(reply(other), facts)).toMatchObject({
        ...{ kind: 'failed', failure: { code: 'unconfirmed', ambiguous: true } },
      })
    },
  )

  describe('with a redirect', () => {
    const facts = form({ success_action_redirect: 'https://partner.example/done' })
    const to = (location: string) => reply(303, { location })
    const done = `https://partner.example/done?bucket=b&key=a.xml&etag=%22${MD5}%22`

    it('is the address that the form asks for, with the checksum of the file', () => {
      expect(judge(to(done), facts)).toEqual({ kind: 'stored', etagVerified: true, warning: null })
      expect(judge(to(done.replace(MD5, OTHER)), facts)).toMatchObject({
        failure: { code: 'etag-mismatch' },
      })
    })

    it.each([
      ['without an address', reply(303), facts],
      ['to another address', to('https://login.example/'), facts],
      ['for which the form does not ask', to(done), form()],
    ])('is not a redirect %s', (_, answer, asked) => {
      expect(judge(answer, asked)).toMatchObject({ kind: 'failed' })
    })
  })

  it('is verified or refuted by the ETag in the body if the headers have none', () => {
    const body = (etag: string) => `<PostResponse><ETag>"${etag}"</ETag></PostResponse>`

    expect(judge(reply(201, {}, body(MD5)))).toMatchObject({ etagVerified: true })
    expect(judge(reply(201, {}, body(OTHER)))).toMatchObject({ kind: 'failed' })
  })

  it.each([
    { 'x-store-server-side-encryption': 'aws:kms' },
    { 'x-store-server-side-encryption-customer-algorithm': 'AES256' },
  ])(
    'is neither doubted nor verified because of the ETag of an encrypted object (%o)',
    (headers) => {
      const answer = reply(201, { etag: OTHER, ...headers })

      expect(judge(answer)).toMatchObject({ kind: 'stored', etagVerified: false })
    },
  )

  it.each([`"${OTHER}-1"`, `${MD5}-12`, '"an opaque one"'])(
    'is neither doubted nor verified because of an ETag that is not an MD5 (%s)',
    (etag) => {
      expect(judge(reply(201, { etag }))).toMatchObject({ kind: 'stored', etagVerified: false })
    },
  )

  it('is a web page with the status that the form names only if its ETag is the checksum of the file', () => {
    const page = '<html><body>Please sign in</body></html>'
    const facts = form({ success_action_status: '200' })

    expect(judge(reply(200, {}, page), facts)).toMatchObject({ kind: 'failed' })
    expect(judge(reply(200, { etag: MD5 }, page), facts)).toMatchObject({ kind: 'stored' })
  })
})

/** nextOf returns what happens after the attempt; null if it did not fail. */
function nextOf(judged: Judgement): string | null {
  if (!('failure' in judged)) return null
  const { class: kind, freshForm, tries } = judged.failure.rule
  if (kind !== 'transient' && tries === 1) return 'stop'
  return freshForm ? 'ask for a new form' : 'use the same form'
}

describe('a success status with a body that can contradict it', () => {
  const facts = form({ success_action_status: '204' })
  const login = '{"error":"login required"}'
  const namespaced = `\uFEFF\n <?xml version="1.0" encoding="UTF-8"?>\n<!-- x --><s3:Error xmlns:s3="http://x/"><s3:Code>SlowDown</s3:Code></s3:Error>`
  const ofOther = '<PostResponse><Key>other.xml</Key></PostResponse>'

  it.each([
    ['an error under 200', reply(200, {}, xml('InternalError')), false, 'InternalError'],
    ['an error with BOM, prolog and namespaces', reply(200, {}, namespaced), false, 'SlowDown'],
    ['a cut error', reply(200, {}, xml('SlowDown').slice(0, -19)), false, 'SlowDown'],
    ['JSON', reply(200, { etag: 'W/"2a-1"' }, login), false, 'http-200'],
    ['JSON with a strong ETag', reply(200, { etag: '"1"' }, login), false, 'http-200'],
    ['a text', reply(200, {}, 'Please log in'), false, 'http-200'],
    ['202', reply(202), true, 'unconfirmed'],
    ['202 with JSON', reply(202, {}, login), false, 'http-202'],
    ['201 with neither ETag nor document', reply(201), true, 'unconfirmed'],
    ['200 where 204 is named, bare', reply(200), true, 'unconfirmed'],
    ['a weak ETag of a page', reply(200, { etag: 'W/"2a-1"' }), true, 'unconfirmed'],
    ['a PostResponse of another object', reply(201, {}, ofOther), true, 'other-key'],
    ['the MD5 of other bytes', reply(204, { etag: `"${OTHER}"` }), false, 'etag-mismatch'],
  ])(
    'does not count as stored, and says why and whether it might be: %s',
    (_, answer, isAmbiguous, code) => {
      const judged = judge(answer, facts)

      expect(judged).toMatchObject({ kind: 'failed', failure: { code } })
      expect('failure' in judged && (judged.failure.ambiguous ?? false)).toBe(isAmbiguous)
    },
  )

  it.each([
    ['the opaque ETag that encryption makes', reply(200, { etag: '"a-b"' })],
    ['the ETag of a multipart upload', reply(201, { etag: '"0123-2"' })],
    ['a PostResponse', reply(201, {}, '\uFEFF<PostResponse/>')],
  ])('counts as stored but not verified with %s, and gives a warning', (_, answer) => {
    expect(judge(answer, facts)).toMatchObject({
      ...{ kind: 'stored', etagVerified: false, warning: expect.any(String) },
    })
  })
})

describe('an error', () => {
  it.each([
    [400, 'RequestTimeout', 'transient', 'use the same form'],
    [400, 'IncompleteBody', 'transient', 'use the same form'],
    [400, 'TokenRefreshRequired', 'transient', 'ask for a new form'],
    [403, 'RequestTimeTooSkewed', 'broken', 'ask for a new form'],
    [301, 'PermanentRedirect', 'broken', 'ask for a new form'],
    [400, 'EntityTooSmall', 'file', 'stop'],
    [409, 'OperationAborted', 'transient', 'use the same form'],
    [400, 'InvalidDigest', 'broken', 'ask for a new form'],
    [503, 'SlowDown', 'transient', 'use the same form'],
    [418, 'NobodyKnowsThis', 'broken', 'ask for a new form'],
    [503, 'NobodyKnowsThis', 'transient', 'use the same form'],
  ])('%i %s is %s; then %s', (status, code, failureClass, next) => {
    const judged = judge(reply(status, {}, xml(code)))

    expect(judged).toMatchObject({ failure: { class: failureClass, code, status } })
    expect(nextOf(judged)).toBe(next)
  })

  it.each([
    [411, 'broken', 'ask for a new form'],
    [412, 'broken', 'ask for a new form'],
    [413, 'file', 'stop'],
    [429, 'transient', 'use the same form'],
    [501, 'broken', 'ask for a new form'],
    [599, 'transient', 'use the same form'],
    [407, 'transient', 'use the same form'],
    [403, 'transient', 'ask for a new form'],
    [404, 'transient', 'ask for a new form'],
    [408, 'transient', 'use the same form'],
    [500, 'transient', 'use the same form'],
    [502, 'transient', 'use the same form'],
    [504, 'transient', 'use the same form'],
  ])(
    '%i without a document has its status as the code and is %s; then %s',
    (status, failureClass, next) => {
      const judged = judge(reply(status))

      expect(judged).toMatchObject({
        failure: { class: failureClass, code: `http-${status}` },
      })
      expect(nextOf(judged)).toBe(next)
    },
  )

  it('shows its code if that is a word, its sizes and an expired policy, and no other part of its text', () => {
    const reasons = [
      xml('AccessDenied', 'hidden'),
      xml('SlowDown.v2', 'hidden'),
      xml('AccessDenied', 'Policy expired: hidden'),
      `<Error><Code>EntityTooLarge</Code><MaxSizeAllowed>5</MaxSizeAllowed><Key>hidden</Key></Error>`,
    ].map((body) => {
      const judged = judge(reply(403, {}, body))
      return judged.kind === 'failed' && judged.failure.reason
    })

    expect(reasons).toEqual([
      'storage answered 403 AccessDenied',
      'storage answered 403',
      'storage answered 403 AccessDenied (the policy has expired)',
      'storage answered 403 EntityTooLarge (at most 5 are allowed)',
    ])
  })

  it('with 403 is temporary for an expired form and broken for a wrong form; then ask for a new form', () => {
    const expired = xml('AccessDenied', 'Invalid according to Policy: Policy expired.')
    const extra = xml('AccessDenied', 'Invalid according to Policy: Extra input fields: x')

    const judged = [judge(reply(403, {}, expired)), judge(reply(403, {}, extra))]

    expect(judged).toMatchObject([
      { failure: { class: 'transient' } },
      { failure: { class: 'broken' } },
    ])
    expect(judged.map(nextOf)).toEqual(['ask for a new form', 'ask for a new form'])
  })
})

describe('a redirect', () => {
  const location = (to: string) => judge(reply(307, { location: to }))

  it.each(['/elsewhere', 'https://storage.example/x', 'https://eu.storage.example/x'])(
    'to %s may be followed',
    (to) => {
      expect(location(to)).toMatchObject({ kind: 'moved' })
    },
  )

  it.each([
    'http://storage.example/x',
    'https://storage.example.evil.example/x',
    'https://evilstorage.example/x',
    'http://127.0.0.1/x',
    'ftp://storage.example/x',
    'https://',
  ])('to "%s" is broken', (to) => {
    expect(location(to)).toMatchObject({
      kind: 'failed',
      failure: { class: 'broken' },
    })
  })

  it('without an address is a failure', () => {
    expect(judge(reply(308))).toMatchObject({ kind: 'failed' })
  })
})

describe('a form', () => {
  const policy = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64')

  it('names its object key, and in its policy the expiry and the allowed sizes', () => {
    const conditions = [{ key: 'a' }, ['Content-Length-Range', 5, '1000']]

    expect(
      form({ policy: policy({ expiration: '2026-01-31T12:00:00Z', conditions }) }),
    ).toMatchObject({
      ...{ expiresAt: Date.UTC(2026, 0, 31, 12), sizes: [5, 1000], key: 'a.xml' },
    })
  })

  it.each([
    policy(null),
    policy({ conditions: 'x', expiration: 5 }),
    policy({ conditions: [['content-length-range', 'x', null]] }),
    policy({ conditions: [['content-length-range', null, '']] }),
    policy({ conditions: [['content-length-range', -5, 16]] }),
    policy({ conditions: [[{ toString: 1, valueOf: 1 }, 1, 2]] }),
    policy({ conditions: [['content-length-range', { valueOf: 1, toString: 1 }, 2]] }),
    // Lists nested too deeply to become a text.
    Buffer.from(`{"conditions":[[${'['.repeat(1e5)}${']'.repeat(1e5)},1,2]]}`).toString('base64'),
    '%%%',
    Buffer.from([0xff, 0xfe]).toString('base64'),
  ])('has no expiry and no sizes if its policy cannot be read', (text) => {
    expect(form({ policy: text })).toMatchObject({ expiresAt: null, sizes: null })
  })

  it('has a file address that is shown without user, password, query and fragment', () => {
    const fileUrl = 'https://me:word@a.example:8443/b.xml?sig=1#x'
    const { fileUrl: shown } = readFormFacts({ url: 'https://a.example/', fileUrl, fields: [] })
    expect(shown).toBe('https://a.example:8443/b.xml')
  })
})

it('the hint for a certificate that is not valid yet names the clock of this machine', () => {
  const said = { code: 'CERT_NOT_YET_VALID', reason: 'it cannot be trusted', bytesSent: 0 }
  const answer = { kind: 'no-answer', why: 'certificate', ...said } as const

  expect(judgeNoAnswer(answer, 10, 'https://storage.example').hint).toContain('timedatectl')
})

describe('other stores than S3', () => {
  const namespaced =
    '<?xml version="1.0"?><s3:Error xmlns:s3="http://s3.amazonaws.com/doc/2006-03-01/"><s3:Code>SlowDown</s3:Code></s3:Error>'

  it.each([
    [503, xml('SlowDownWrite'), 'transient'],
    [503, namespaced, 'transient'],
    [503, '', 'transient'],
    [507, xml('XMinioStorageFull'), 'transient'],
    [500, '{"error":"volume is read only"}', 'transient'],
    [429, 'slow down', 'transient'],
    [408, xml('RequestTimeout'), 'transient'],
    [403, xml('RequestTimeTooSkewed'), 'broken'],
    [403, xml('AccessForbidden'), 'broken'],
    [400, xml('EntityTooLarge'), 'file'],
    [413, '<html>413 Request Entity Too Large</html>', 'file'],
    [301, xml('PermanentRedirect'), 'broken'],
  ])('are understood, too: %i %s is %s', (status, body, expected) => {
    const judged = judge(reply(status, {}, body))

    expect(judged.kind === 'failed' && judged.failure.class).toBe(expected)
  })
})
