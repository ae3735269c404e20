import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { Command, runWithin } from '../../helpers/command.ts'
import { eventually } from '../../helpers/eventually.ts'
import { sandboxCommand, sandboxFolder } from '../../helpers/sandbox/process.ts'
import { CAMPAIGNS, feedOf, PRESIGN, post } from '../../helpers/sandbox/vendor.ts'

/** started starts a sandbox and returns the JSON line that it printed. */
async function started(directory: string, ...args: string[]) {
  const { command, facts } = await sandboxCommand(directory, ...args)
  return { command, ...facts }
}

type Started = Awaited<ReturnType<typeof started>>

/** presign asks for a form like the specification's example: a POST without a body. */
async function presign(sandbox: Started, who: Record<string, string>, signed = hmacOf(sandbox)) {
  const date = new Date().toUTCString()
  const text = `POST${PRESIGN}?;;${date}`
  const headers = { ...who, 'X-SVC-Date': date, 'X-SVC-Signature': signed(text) }
  const answer = await fetch(sandbox.url + PRESIGN, { method: 'POST', headers })
  return { status: answer.status, form: (await answer.json()) as Parameters<typeof post>[0] }
}

const hmacOf =
  ({ keyFile }: Pick<Started, 'keyFile'>, algorithm = 'sha1') =>
  (text: string) =>
    createHmac(algorithm, readFileSync(keyFile, 'utf8').trimEnd()).update(text).digest('base64')

const partner = (name: string, account: string) => ({
  'X-SVC-Partner': name,
  'X-SVC-PartnerAccount': account,
})

describe('feedsyncd sandbox', () => {
  it('without options issues forms to its account and to its partner, and accepts their uploads', async () => {
    const sandbox = await started(sandboxFolder())

    const forms = [
      await presign(sandbox, partner(sandbox.partner, sandbox.partnerAccount)),
      await presign(sandbox, { 'X-SVC-Account': sandbox.account }),
    ]

    for (const { status, form } of forms) {
      expect(status).toBe(200)
      expect((await post(form, feedOf({ title: 'Nurse' }))).status).toBe(201)
    }
  })

  it('prints one line of JSON for scripts', async () => {
    const directory = sandboxFolder()
    const { command, ...printed } = await started(directory)

    expect(printed).toEqual({
      schemaVersion: 1,
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api$/),
      storageUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/feeds$/),
      ...{ account: '123', partner: 'acme', partnerAccount: '42' },
      keyFile: join(directory, 'service.key'),
      configFile: join(directory, 'feedsyncd.yaml'),
      objects: join(directory, 'objects'),
    })
    expect(command.output).toBe(`${JSON.stringify(printed)}\n`)
  })

  it('accepts the callers of a file, each only with its own keys and algorithm, and prints the first', async () => {
    const directory = sandboxFolder()
    const vendor = generateKeyPairSync('ed25519').privateKey
    const pem = vendor.export({ type: 'pkcs8', format: 'pem' })
    writeFileSync(join(directory, 'vendor.pem'), pem)
    writeFileSync(join(directory, 'one.key'), 'one\n')
    writeFileSync(join(directory, 'two.key'), 'two')
    const callers = [
      { ...{ partner: 'globex', partnerAccounts: ['1', '2'] }, keyFile: 'one.key' },
      {
        ...{ partner: 'globex', partnerAccounts: ['1'] },
        ...{ keyFile: 'two.key', algorithm: 'hmac-sha256' },
      },
      { account: '77', keyFile: 'vendor.pem', algorithm: 'ed25519' },
    ]
    const file = join(directory, 'callers.json')
    writeFileSync(file, JSON.stringify(callers))
    const sandbox = await started(join(directory, 'sandbox'), '--callers', file)
    const [one, two] = [
      hmacOf({ keyFile: join(directory, 'one.key') }),
      hmacOf({ keyFile: join(directory, 'two.key') }, 'sha256'),
    ]
    const statusOf = async (who: Record<string, string>, signed: (text: string) => string) =>
      (await presign(sandbox, who, signed)).status

    expect(sandbox).toMatchObject({
      ...{ account: null, partner: 'globex', partnerAccount: '1' },
      keyFile: join(directory, 'one.key'),
    })
    expect(await statusOf(partner('globex', '1'), one)).toBe(200)
    expect(await statusOf(partner('globex', '1'), two)).toBe(200)
    expect(await statusOf(partner('globex', '2'), one)).toBe(200)
    expect(await statusOf(partner('globex', '2'), two)).toBe(401)
    expect(await statusOf(partner('globex', '3'), one)).toBe(403)
    expect(await statusOf({ 'X-SVC-Account': '77' }, one)).toBe(401)
    const signed = (text: string) => sign(null, Buffer.from(text), vendor).toString('base64')
    expect(await statusOf({ 'X-SVC-Account': '77' }, signed)).toBe(200)
  })

  it('writes a configuration that the daemon can use', async () => {
    const sandbox = await started(sandboxFolder())

    const { code } = await runWithin(['run', '--once', '--config', sandbox.configFile])

    expect(code).toBe(0)
  })

  it.each([
    [[], 'expected a value that is not empty'],
    [[{ keyFile: 'a' }], 'expected an account or a partner'],
    [[{ partner: 'a', keyFile: 'a' }], 'expected "partner" and "partnerAccounts" together'],
    [
      [{ account: '1', keyFile: 'a', algorithm: 'md5' }],
      '[0].algorithm: expected one of hmac-sha1',
    ],
    [[{ account: '1', secret: 'a', keyFile: 'a' }], '[0].secret: unknown key'],
    [
      [
        { account: '1', keyFile: 'a' },
        { partner: 'a', partnerAccounts: ['1'], keyFile: 'a' },
      ],
      'expected one owner for each account: "1" has two owners',
    ],
  ])('refuses a wrong file of callers with 64 and the problem: %j', async (callers, reason) => {
    const directory = sandboxFolder()
    writeFileSync(join(directory, 'callers.json'), JSON.stringify(callers))
    const args = ['--dir', join(directory, 'sandbox'), '--callers', join(directory, 'callers.json')]

    const { code, stderr } = await runWithin(['sandbox', ...args])

    expect([code, stderr]).toEqual([64, expect.stringContaining(reason)])
  })

  it('follows its options for base path, success status, form lifetime and page size', async () => {
    let now = Date.now()
    const clock = { ...systemClock, now: () => now }
    const options = ['--base-path', '/jobs/v', '--success-status', '204', '--form-lifetime', '90s']
    const directory = sandboxFolder()
    const args = ['sandbox', '--json', '--dir', directory, ...options, '--page-size', '2']
    const command = new Command(args, { clock })
    onTestFinished(async () => void (await command.stop()))
    const sandbox = { command, ...(await eventually(() => JSON.parse(command.output))) }
    const who = { 'X-SVC-Account': '123' }

    const first = await presign(sandbox, who)
    const stored = await post(first.form, feedOf({ title: 'Nurse' }))
    const second = await presign(sandbox, who)
    now += 91_000
    const late = await post(second.form, feedOf({ title: 'Nurse' }))
    now -= 91_000
    const date = new Date().toUTCString()
    const headers = {
      ...{ ...who, 'X-SVC-Date': date },
      'X-SVC-Signature': hmacOf(sandbox)(`GET${CAMPAIGNS}?;;${date}`),
    }
    const page = await fetch(sandbox.url + CAMPAIGNS, { headers })

    expect(sandbox.url).toMatch(/\/jobs\/v$/)
    expect([stored.status, late.status]).toEqual([204, 403])
    expect(await page.json()).toMatchObject({ numRequested: 2 })
  })

  it('issues forms for the host name that the client used, and accepts the upload there', async () => {
    const sandbox = await started(sandboxFolder(), '--host', '0.0.0.0')
    const elsewhere = { ...sandbox, url: sandbox.url.replace('127.0.0.1', '127.0.0.9') }

    const { form } = await presign(elsewhere, { 'X-SVC-Account': '123' })

    expect(new URL(form.url).hostname).toBe('127.0.0.9')
    expect((await post(form, feedOf({ title: 'Nurse' }))).status).toBe(201)
  })

  it.each([
    ['--port', '70000', 'expected a port between 0 and 65535'],
    ['--form-lifetime', '15', 'expected a duration such as 30s or 15m'],
    ['--page-size', '0', 'expected a whole number'],
    ['--success-status', '202', 'Allowed choices are 200, 201, 204'],
  ])('refuses %s %s with 64: %s', async (option, value, reason) => {
    const { code, stderr } = await runWithin(['sandbox', option, value])

    expect([code, stderr]).toEqual([64, expect.stringContaining(reason)])
  })
})
