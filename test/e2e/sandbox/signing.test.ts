import { createHmac, generateKeyPairSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { RequestDetails } from '../../../src/sandbox/records.ts'
import { Command, runWithin } from '../../helpers/command.ts'
import { eventually } from '../../helpers/eventually.ts'
import { SECRET } from '../../helpers/sandbox/client.ts'
import { sandboxCommand, sandboxFolder } from '../../helpers/sandbox/process.ts'
import { sandbox } from '../../helpers/sandbox/sandbox.ts'
import {
  ACCOUNT,
  answerOf,
  CAMPAIGNS,
  call,
  create,
  PRESIGN,
} from '../../helpers/sandbox/vendor.ts'

const BODY = '{"name": "Nurses"}'
const hmac = (text: string, secret = SECRET, hash = 'sha1') =>
  createHmac(hash, secret).update(text).digest('base64')

interface Mistake {
  text?: (right: string, date: string) => string
  signature?: (right: string) => string
}

/** refused sends a create with a mistake, and returns what the answer says about it. */
async function refused(url: string, { text = (right) => right, signature = hmac }: Mistake) {
  const date = new Date().toUTCString()
  const right = `POST${CAMPAIGNS}?a=%20b;${BODY};${date}`
  const headers = {
    ...{ ...ACCOUNT, 'X-SVC-Date': date },
    'X-SVC-Signature': signature(text(right, date)),
  }
  const answer = await fetch(`${url}${CAMPAIGNS}?a=%20b`, { method: 'POST', headers, body: BODY })
  const json = (await answer.json()) as { differs: string; message: string; stringToSign: string }
  return { status: answer.status, right, ...json }
}

describe('a refused signature', () => {
  it.each<[string | null, string, Mistake]>([
    ['method', 'upper case', { text: (right) => right.replace('POST', 'post') }],
    ['path', 'without "/api"', { text: (right) => right.replace('/v1', '/api/v1') }],
    ['path', 'without a slash', { text: (right) => right.replace('campaigns', 'campaigns/') }],
    ['query', 'was not signed', { text: (right) => right.replace('a=%20b', '') }],
    ['query', 'as it was sent', { text: (right) => right.replace('%20', ' ') }],
    ['body', 'was not signed', { text: (right) => right.replace(BODY, '') }],
    ['body', 'its spaces differ', { text: (right) => right.replace(': ', ':') }],
    ['body', 'ends differently', { text: (right) => right.replace(BODY, `${BODY}\n`) }],
    [
      'date',
      'as it was sent',
      { text: (right, date) => right.replace(date, new Date(date).toISOString()) },
    ],
    ['date', 'was not signed', { text: (right, date) => right.replace(date, '') }],
    ['encoding', 'hex', { signature: (text) => Buffer.from(hmac(text), 'base64').toString('hex') }],
    ['encoding', 'Base64', { signature: (text) => hmac(text).replace('=', '') }],
    ['key', 'made with hmac-sha256', { signature: (text) => hmac(text, SECRET, 'sha256') }],
    ['key', 'the line break at the end', { signature: (text) => hmac(text, `${SECRET}\n`) }],
    ['key', 'the key of account 77', { signature: (text) => hmac(text, 'other') }],
    [
      null,
      'if you signed stringToSign, the key differs',
      { signature: (text) => hmac(text, 'unknown') },
    ],
  ])('says what differs (%s) and shows the string: %s', async (differs, reason, mistake) => {
    const { url } = await sandbox({
      callers: [
        { account: '123', secret: SECRET },
        { account: '77', secret: 'other' },
      ],
    })

    const answer = await refused(url, mistake)

    expect(answer).toMatchObject({
      ...{ status: 401, differs, stringToSign: answer.right },
      [differs === null && reason.startsWith('if') ? 'hint' : 'message']:
        expect.stringContaining(reason),
    })
    expect(answer.message).toMatch(/^the signature does not match the request(: |$)/)
  })
})

/** home starts a sandbox and returns its printed facts, and a function that signs and sends. */
async function home(callers: object[] | null, ...args: string[]) {
  const directory = sandboxFolder()
  const file = join(directory, 'callers.json')
  if (callers !== null) writeFileSync(file, JSON.stringify(callers))
  const pair = generateKeyPairSync('ed25519')
  writeFileSync(join(directory, 'one.key'), 'one\n')
  writeFileSync(
    join(directory, 'private.pem'),
    pair.privateKey.export({ type: 'pkcs8', format: 'pem' }),
  )
  writeFileSync(
    join(directory, 'public.pem'),
    pair.publicKey.export({ type: 'spki', format: 'pem' }),
  )
  const home = join(directory, 'sandbox')
  const given = callers === null ? args : ['--callers', file, ...args]
  const { facts } = await sandboxCommand(home, ...given)
  const sign = (...words: string[]) => runWithin(['sandbox', 'sign', '--dir', home, ...words])
  const status = async (...words: string[]) => {
    const { stdout } = await sign(...words)
    const value = (name: string) =>
      [...stdout.matchAll(new RegExp(`^${name} = (".*")$`, 'gm'))].map(
        ([, text = '']) => JSON.parse(text) as string,
      )
    const headers = value('header').map((line) => line.split(': ') as [string, string])
    const [body] = value('data-raw')
    const [method = 'GET'] = value('request')
    const answer = await fetch(value('url')[0] ?? '', {
      ...{ method, headers },
      ...(body !== undefined && { body }),
    })
    return answer.status
  }
  const control = async (path: string, method = 'GET', body: string | null = null) => {
    const origin = new URL(facts.url).origin
    return (await fetch(`${origin}/_sandbox/${path}`, { method, body })).json()
  }
  return { directory, facts, sign, status, control }
}

const CALLERS = [
  { account: '123', keyFile: 'one.key' },
  { partner: 'acme', partnerAccounts: ['42', '43'], keyFile: 'private.pem', algorithm: 'ed25519' },
  { account: '77', keyFile: 'public.pem', algorithm: 'ed25519' },
]

describe('feedsyncd sandbox sign', () => {
  it('signs for each caller that it can sign for, with a body from a file, a query or a method in lower case', async () => {
    const { directory, status } = await home(CALLERS)
    const file = join(directory, 'campaign.json')
    writeFileSync(file, '{"name":"Nürses\\n"}\n')
    const create = ['POST', CAMPAIGNS, '--data', `@${file}`]

    expect(await status(...create)).toBe(200)
    expect(await status(...create, '--account', '123')).toBe(200)
    expect(await status('GET', CAMPAIGNS, '--partner')).toBe(200)
    expect(await status(...create, '--partner', 'acme', '--partner-account', '43')).toBe(200)
    expect(await status('get', `${CAMPAIGNS}?Num=5`)).toBe(200)
  })

  it.each([
    [['--account', '77'], 'is a public key, which can only verify signatures'],
    [['--account', '5'], 'the sandbox has no such caller'],
    [['--partner', 'acme', '--partner-account', '44'], 'the sandbox has no such caller'],
  ])('ends with 64 and says why it cannot sign: %j', async (words, reason) => {
    const { sign } = await home(CALLERS)

    const { code, stderr } = await sign('GET', CAMPAIGNS, ...words)

    expect([code, stderr]).toEqual([64, expect.stringContaining(reason)])
  })

  it('signs with the date of the sandbox, whose clock was set', async () => {
    const { facts, status } = await home(null)
    const body = '{"now":"2027-01-31T23:59:00Z"}'
    await fetch(`${new URL(facts.url).origin}/_sandbox/clock`, { method: 'PUT', body })

    expect(await status('GET', CAMPAIGNS)).toBe(200)
  })
})

describe('feedsyncd sandbox', () => {
  it('uses a given key, as text or from a file, and refuses both with 64', async () => {
    const asText = await home(null, '--key', 'known')
    const file = join(asText.directory, 'known.key')
    writeFileSync(file, 'from a file\n')
    const asFile = await home(null, '--key-file', file)

    expect(readFileSync(asText.facts.keyFile, 'utf8')).toBe('known\n')
    expect(asFile.facts.keyFile).toBe(file)
    expect(await asText.status('GET', CAMPAIGNS)).toBe(200)
    expect(await asFile.status('GET', CAMPAIGNS)).toBe(200)
    const { code } = await runWithin(['sandbox', '--key', 'a', '--key-file', file])
    expect(code).toBe(64)
  })

  it('gives different form keys, in a sequence that --seed decides', async () => {
    const keysOf = async (seed: string) => {
      const { facts, status, control } = await home(null, '--seed', seed)
      await control('clock', 'PUT', '{"now":"2027-01-04T10:00:00Z"}')
      for (let n = 0; n < 3; n++) await status('POST', PRESIGN)
      const list = (await control('requests')) as { key: string }[]
      return list.map(({ key }) => key.replace(/\d{2}\.xml$/, `${facts.account}`))
    }

    const [one, again, two] = [await keysOf('1'), await keysOf('1'), await keysOf('2')]

    expect(new Set(one).size).toBe(3)
    expect(again).toEqual(one)
    expect(two).not.toEqual(one)
  })

  it('has a ready file and good health while it listens, and removes the file at its end', async () => {
    const folder = sandboxFolder()
    const ready = join(folder, 'ready.json')
    const args = ['sandbox', '--dir', join(folder, 'sandbox'), '--ready-file', ready]
    const command = new Command(args)
    onTestFinished(async () => void (await command.stop()))

    const facts = await eventually(() => JSON.parse(readFileSync(ready, 'utf8')))
    const health = await fetch(`${new URL(facts.url).origin}/_sandbox/health`)

    expect(health.status).toBe(200)
    expect(await health.json()).toMatchObject({ status: 'ok', problem: null, url: facts.url })
    await command.stop()
    expect(() => readFileSync(ready)).toThrow('ENOENT')
  })

  it('begins with --reset without campaigns and at the first id, with the same key and ports', async () => {
    const directory = join(sandboxFolder(), 'sandbox')
    const first = await sandboxCommand(directory)
    const secret = readFileSync(first.facts.keyFile, 'utf8').trimEnd()
    const { json: before } = await create(first.facts.url, {}, { secret })
    await first.command.stop()

    const second = await sandboxCommand(directory, '--reset')

    expect(second.facts).toEqual(first.facts)
    expect(readFileSync(second.facts.keyFile, 'utf8').trimEnd()).toBe(secret)
    const { json } = await call(second.facts.url, 'GET', CAMPAIGNS, undefined, { secret })
    expect(json.total).toBe(0)
    expect((await create(second.facts.url, {}, { secret })).json.id).toBe(before.id)
  })
})

describe('the journal', () => {
  /** journal sends three requests, and returns a function that lists requests. */
  async function journal() {
    const box = await sandbox()
    await create(box.url)
    await refused(box.url, { signature: () => 'AAAA' })
    const headers = { ...ACCOUNT, 'X-SVC-ApiKey': 'key-of-the-tests' }
    await fetch(`${box.url}${CAMPAIGNS}?Num=5`, { headers })
    return async (query: string) =>
      answerOf<{ n: number; details: RequestDetails }[]>(
        await fetch(`${box.controlUrl}/requests${query}`),
      )
  }

  it('shows headers, query, body and answer of the newest requests first, without keys', async () => {
    const get = await journal()

    const { json: list } = await get('')
    const [newest, one] = [list[0]?.details, list.at(-1)?.details]

    expect(list.map(({ n }) => n)).toEqual([3, 2, 1])
    expect(one).toMatchObject({ path: `/api${CAMPAIGNS}`, query: '', body: '{"name":"Nurses"}' })
    expect(newest?.query).toBe('Num=5')
    expect(JSON.parse(one?.answerBody ?? '')).toMatchObject({ name: 'Nurses' })
    expect(one?.headers).toContainEqual(['X-SVC-Account', '123'])
    expect(newest?.headers).toContainEqual(['X-SVC-ApiKey', '(hidden)'])
    expect(JSON.stringify(list)).not.toContain('key-of-the-tests')
  })

  it('finds requests by status, route, time and limit, and refuses a wrong filter with 400', async () => {
    const get = await journal()

    expect((await get('?status=401')).json).toHaveLength(2)
    expect((await get('?status=4xx&limit=1')).json).toMatchObject([{ n: 3 }])
    expect((await get('?route=campaign-create&status=200')).json).toMatchObject([{ n: 1 }])
    expect((await get('?since=2999-01-01T00:00:00Z')).json).toEqual([])
    for (const wrong of ['?status=9', '?limit=0', '?since=soon', '?color=red']) {
      expect((await get(wrong)).status).toBe(400)
    }
  })

  it('shows the length of a body and keeps its first 64 KiB', async () => {
    const box = await sandbox()
    const body = 'x'.repeat(100_000)
    await fetch(box.url + CAMPAIGNS, { method: 'POST', body })

    const [one] = (await (await fetch(`${box.controlUrl}/requests`)).json()) as [
      { bytes: number; details: { body: string } },
    ]

    expect([one.bytes, one.details.body.length]).toEqual([100_000, 65_536])
  })
})
