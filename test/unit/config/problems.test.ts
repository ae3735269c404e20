import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../../src/config/load.ts'
import { ConfigProblems, formatProblem } from '../../../src/config/problems.ts'
import { brokenRules } from '../../../src/config/rules.ts'
import { SIGN_FIELDS, SIGNATURE_ALGORITHMS } from '../../../src/domain/service-words.ts'
import { bytesToSign, type Signable } from '../../../src/service/signer.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'feedsyncd-problems-'))
})

afterAll(() => rmSync(folder, { recursive: true }))

/** The printed problems, without the name of the file. */
function problems(text: string): string[] {
  const file = join(folder, 'feedsyncd.yaml')
  writeFileSync(file, text)
  try {
    loadConfig(file, {})
    return []
  } catch (error) {
    if (!(error instanceof ConfigProblems)) throw error
    return error.lines.map((line) => line.slice(file.length + 1))
  }
}

const LEAST = 'service:\n  baseUrl: https://api.example.com\n  account: "123"\n'
const with_ = (rest: string) => problems(`${LEAST}${rest}`)

describe('mistakes', () => {
  it('are reported all at once, one line each, in the order of the file', () => {
    const found = problems(
      'service:\n  baseUrll: https://x\n  account: "1"\ninbox:\n  rescan: 30\n  quietPeriod: 1ms\nlogs: {}\n',
    )

    expect(found).toEqual([
      '2:3 service.baseUrll: unknown key, did you mean baseUrl?',
      '5:11 inbox.rescan: expected a duration such as 30s or 15m (got 30)',
      '6:16 inbox.quietPeriod: must be at least 100ms (got "1ms")',
      '7:1 logs: unknown key, did you mean log?',
    ])
  })

  it('begin with the file as it was given, so that an editor can jump there', () => {
    const problem = { line: 2, column: 3, key: 'a.b', reason: 'missing' }

    expect(formatProblem('conf/f.yaml', problem)).toBe('conf/f.yaml:2:3 a.b: missing')
    expect(formatProblem('conf/f.yaml', { ...problem, key: '' })).toBe('conf/f.yaml:2:3 missing')
  })

  it('in the syntax are reported without a key', () => {
    expect(problems('a: 1\na: 2\nb: *x\n')).toEqual([
      '2:1 duplicate key',
      '3:4 aliases are not supported (*x)',
    ])
  })

  it.each([
    [
      '',
      [
        '1:1 service.baseUrl: missing',
        '1:1 service.account: missing: name an account, or a partner',
      ],
    ],
    ['- 1\n', ['1:1 expected keys with values, one on each line']],
    [
      'service:\n',
      [
        '1:1 service.baseUrl: missing',
        '1:1 service.account: missing: name an account, or a partner',
      ],
    ],
    [`${LEAST}feeds:\n  - name: x\n`, ['5:5 feeds[0].match: missing']],
    [`${LEAST}alerts:\n  - exec: [x]\n`, ['5:5 alerts[0].on: missing']],
  ])('about a missing key have the position where the key belongs: %j', (text, lines) => {
    expect(problems(text)).toEqual(lines)
  })

  it('in the spelling of a key are reported once, not again as missing', () => {
    expect(problems('servce:\n  baseUrl: https://x\n  account: "1"\n')).toEqual([
      '1:1 servce: unknown key, did you mean service?',
    ])
    expect(problems('service: {base_url: https://x, partnr: a}\n')).toEqual([
      '1:11 service.base_url: unknown key, did you mean baseUrl?',
      '1:32 service.partnr: unknown key, did you mean partner?',
    ])
  })
})

describe('an unknown key', () => {
  it('is reported with its right block if it belongs to another one', () => {
    expect(with_('quietPeriod: 1s\n')).toEqual([
      '4:1 quietPeriod: unknown key, did you mean inbox.quietPeriod?',
    ])
  })

  it('is only called unknown if no key is similar', () => {
    expect(with_('colour: red\n__proto__: {}\nconstructor: {}\n')).toEqual([
      '4:1 colour: unknown key',
      '5:1 __proto__: unknown key',
      '6:1 constructor: unknown key',
    ])
  })

  it.each(['key', 'secret', 'apiKey', 'privateKey', 'password', 'token'])(
    'for a secret (%s) gets the advice to use a file, and its value is not repeated',
    (name) => {
      const [line, ...others] = with_(`  auth: { ${name}: hunter2 }\n`)

      expect(line).toMatch(
        /^4:11 service\.auth\.\w+: secrets do not belong in this file: .*keyFile$/,
      )
      expect(others).toEqual([])
    },
  )
})

describe('a value', () => {
  it.each([
    ['version: 2', 'version: this feedsyncd reads version 1 (got 2)'],
    ['inbox: { rescan: 999ms }', 'inbox.rescan: must be at least 1s (got "999ms")'],
    ['inbox: { include: "*.xml" }', 'inbox.include: expected a list of patterns (got "*.xml")'],
    [
      'inbox: { afterReject: maybe }',
      'inbox.afterReject: expected keep or quarantine (got "maybe")',
    ],
    ['inbox: { receipts: no }', 'inbox.receipts: expected true or false (got "no")'],
    ['inbox: { directory: }', 'inbox.directory: has no value: expected a path'],
    [
      'guards: { maxDropPercent: 50% }',
      'guards.maxDropPercent: expected a number from 0 to 100, without a percent sign (got "50%")',
    ],
    [
      'guards: { maxDropPercent: 101 }',
      'guards.maxDropPercent: expected a number from 0 to 100, without a percent sign (got 101)',
    ],
    [
      'guards: { maxDropPercent: .nan }',
      'guards.maxDropPercent: expected a number from 0 to 100, without a percent sign (got NaN)',
    ],
    [
      'guards: { minPostings: -1 }',
      'guards.minPostings: expected a whole number of at least 0 (got -1)',
    ],
    [
      'upload: { concurrency: 65 }',
      'upload.concurrency: expected a whole number from 1 to 64 (got 65)',
    ],
    [
      'upload: { concurrency: 0 }',
      'upload.concurrency: expected a whole number from 1 to 64 (got 0)',
    ],
    [
      'upload: { keepVersions: 1.5 }',
      'upload.keepVersions: expected a whole number of at least 0 (got 1.5)',
    ],
    [
      'upload: { maxRate: 5MB }',
      'upload.maxRate: expected a size such as 512KiB or 64MiB a second, or "" for no limit (got "5MB")',
    ],
    ['upload: { maxRate: 0B }', 'upload.maxRate: must be at least 1KiB (got "0B")'],
    ['state: { historyFor: 1h }', 'state.historyFor: must be at least 1d (got "1h")'],
    [
      'state: { historyFor: 99999999999999d }',
      'state.historyFor: is too long (got "99999999999999d")',
    ],
    [
      'http: { listen: 9464 }',
      'http.listen: expected host:port such as 127.0.0.1:9464, the path of a socket, or "" for off (got 9464)',
    ],
    [
      'http: { listen: "h:70000" }',
      'http.listen: expected host:port such as 127.0.0.1:9464, the path of a socket, or "" for off (got "h:70000")',
    ],
    [
      'log: { level: loud }',
      'log.level: expected trace, debug, info, warn, error, fatal or silent (got "loud")',
    ],
    ['log: 3', 'log: expected keys with values, one on each line (got 3)'],
    [
      'feeds: [{ match: x, records: job }]',
      'feeds[0].records: expected a path such as /source/job (got "job")',
    ],
    [
      'feeds: [{ match: ../x }]',
      'feeds[0].match: must be relative to inbox.directory, such as "acme/*.xml"',
    ],
    [
      'feeds: [{ match: /srv/x }]',
      'feeds[0].match: must be relative to inbox.directory, such as "acme/*.xml"',
    ],
    [
      'alerts: [{ on: [died], exec: [x] }]',
      'alerts[0].on[0]: expected rejected, held, failed, overdue, credentials, service, daemon, campaigns-stopped, campaign-unknown or campaign-waiting (got "died")',
    ],
    [
      'alerts: [{ on: [held], exec: page }]',
      'alerts[0].exec: expected a list: the program and its arguments',
    ],
  ])('%s is refused in plain words', (text, problem) => {
    const lines = with_(`${text}\n`)

    expect(lines.map((line) => line.replace(/^\d+:\d+ /, ''))).toEqual([problem])
  })

  it.each([
    ['ftp://x', 'expected an address such as https://api.example.com'],
    ['api.example.com', 'expected an address such as https://api.example.com'],
    ['https:/x', 'expected an address such as https://api.example.com'],
    ['http://api.example.com', 'must begin with https: (http: is for loopback)'],
    ['http://127.0.0.1.example.com', 'must begin with https: (http: is for loopback)'],
    ['http://localhost.example.com', 'must begin with https: (http: is for loopback)'],
    ['https://me:hunter2@x', 'must not hold a user name or a password'],
    ['https://x/?q=1', 'must not have a query or a fragment'],
  ])('%s as the address is refused and not repeated', (url, problem) => {
    expect(problems(LEAST.replace('https://api.example.com', url))).toEqual([
      `2:12 service.baseUrl: ${problem}`,
    ])
  })

  it.each([
    ['account: 123', 'service.account: expected text; put it in quotes (got 123)'],
    [
      'account: "a\\r\\nb"',
      'service.account: expected plain ASCII text, as it is sent in a header (got "a\\r\\nb")',
    ],
    [
      'account: Zoë',
      'service.account: expected plain ASCII text, as it is sent in a header (got "Zoë")',
    ],
    [
      'account: ""',
      'service.account: expected plain ASCII text, as it is sent in a header (got "")',
    ],
  ])('%s is refused', (text, problem) => {
    expect(problems(LEAST.replace('account: "123"', text))).toEqual([`3:12 ${problem}`])
  })

  it('is never repeated if it might be a secret', () => {
    const text = `${LEAST}  auth: { keyFile: "-----BEGIN\\nhunter2" }
alerts: [{ on: [held], webhook: http://h.example.com/hunter2, secretFile: 7 }]\n`

    const lines = problems(text)

    expect(lines).toHaveLength(3)
    expect(lines.join('\n')).not.toContain('hunter2')
  })
})

describe('keys that belong together', () => {
  it.each([
    ['account: "1"\n  partner: a', '4:12 service.partner: name either an account or a partner'],
    [
      'account: "1"\n  partnerAccount: a',
      '4:19 service.partnerAccount: belongs to a partner, not an account',
    ],
  ])('%j contradict each other', (text, problem) => {
    expect(problems(LEAST.replace('account: "123"', text))).toEqual([problem])
  })

  it.each([
    ['feeds: [{ match: "{1}/*.xml", name: "{2}" }]', 'feeds[0].name: match captures no {2}'],
    ['feeds: [{ match: "*/*.xml", name: "{1}" }]', 'feeds[0].name: match captures no {1}'],
    ['alerts: [{ on: [held] }]', 'alerts[0].exec: missing: name exec, or a webhook'],
    [
      'alerts: [{ on: [held], exec: [x], webhook: "https://x" }]',
      'alerts[0].webhook: name either exec or a webhook',
    ],
    [
      'alerts: [{ on: [held], exec: [x], secretFile: y }]',
      'alerts[0].secretFile: belongs to a webhook',
    ],
    ['state: { directory: inbox/state }', 'state.directory: must lie outside inbox.directory'],
    ['state: { directory: inbox }', 'state.directory: must lie outside inbox.directory'],
    [
      'inbox: { afterUpload: archive, archiveDirectory: ./inbox/done }',
      'inbox.archiveDirectory: must lie outside inbox.directory',
    ],
    [
      'inbox: { afterUpload: archive, directory: . }',
      'inbox.archiveDirectory: must lie outside inbox.directory',
    ],
    [
      'inbox: { afterReject: quarantine, quarantineDirectory: inbox/bad }',
      'inbox.quarantineDirectory: must lie outside inbox.directory',
    ],
  ])('are checked together: %s', (text, problem) => {
    const lines = with_(`${text}\n`).map((line) => line.replace(/^\d+:\d+ /, ''))

    expect(lines).toContain(problem)
  })

  it('are checked with links followed: the archive must lie outside the inbox', () => {
    const base = mkdtempSync(join(tmpdir(), 'feedsyncd-links-'))
    onTestFinished(() => rmSync(base, { recursive: true }))
    mkdirSync(join(base, 'inbox'))
    symlinkSync('inbox', join(base, 'link'))
    const inbox = { directory: 'inbox', afterUpload: 'archive', archiveDirectory: 'link/done' }

    expect(brokenRules({ inbox }, base, 'followed')).toContainEqual({
      path: ['inbox', 'archiveDirectory'],
      reason: 'must lie outside inbox.directory',
    })
  })

  it('allow a folder in the inbox that is not used, and a folder whose name only begins like the inbox', () => {
    expect(
      with_('state: { directory: inbox-state }\ninbox: { archiveDirectory: inbox/done }\n'),
    ).toEqual([])
  })
})

describe('the signature', () => {
  it('has one of nine algorithms', () => {
    expect(SIGNATURE_ALGORITHMS.join(' ')).toBe(
      'hmac-sha1 hmac-sha256 hmac-sha512 rsa-sha1 rsa-sha256 rsa-sha512 rsa-pss-sha256 ecdsa-p256-sha256 ed25519',
    )
  })

  it('can name exactly the fields that the signer fills in', () => {
    const template = SIGN_FIELDS.map((name) => `{${name}}`).join('')

    const values = Object.fromEntries(SIGN_FIELDS.map((name) => [name, `<${name}>`]))
    const filled = bytesToSign(template, values as unknown as Signable)
    expect(filled.toString()).toBe(template.replaceAll('{', '<').replaceAll('}', '>'))
    expect(with_(`  auth: { stringToSign: "${template}" }\n`)).toEqual([])
    expect(with_('  auth: { stringToSign: "{methd}" }\n')).toEqual([
      '4:25 service.auth.stringToSign: names {methd}, which does not exist; it can name method, path, query, body, date, host, url, account, partner or partnerAccount (got "{methd}")',
    ])
  })
})
