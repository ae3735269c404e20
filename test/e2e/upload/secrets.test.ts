// No secret is visible. A daemon at log level trace goes through the main faults behind a proxy that sees every secret.
// Then the test searches its output, files and answers for each secret, in every spelling.

import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import type { FaultRule } from '../../../src/sandbox/faults/fault-types.ts'
import { eventually } from '../../helpers/eventually.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { type RecordingProxy, recordingProxy } from '../../helpers/recording-proxy.ts'
import { feedOf, Site } from '../../helpers/site.ts'

/** Secrets are new in each run, because the process hides known ones, and too short to look like a token. */
const secretOf = (what: string) => `${what}/of+the:${randomBytes(9).toString('hex')}`
const KEYS = { signature: secretOf('secret'), apiKey: secretOf('api-key') }
const PROXY_PASSWORD = randomBytes(12).toString('hex')
const WEBHOOK_TOKEN = `T0/token-of-the-webhook${randomBytes(6).toString('hex')}`

/** faultsWith returns the faults of each account; `key` is the secret that a careless service repeats. */
const faultsWith = (
  key: string,
): Array<[account: string, ending: 'uploaded' | 'failed' | 'waiting', FaultRule[]]> => [
  ['fine', 'uploaded', []],
  ['echo-service', 'uploaded', []],
  ['echo-storage', 'uploaded', []],
  [
    'service-500',
    'uploaded',
    [
      {
        at: 'service',
        kind: 'answer',
        status: 500,
        body: JSON.stringify({ message: `the key ${key} is wrong` }),
      },
    ],
  ],
  ['cut-form', 'uploaded', [{ at: 'service', kind: 'json', variant: 'truncated' }]],
  [
    'refused',
    'waiting',
    [{ at: 'service', kind: 'answer', status: 400, body: `{"error":"key: ${key}"}` }],
  ],
  ['garbage', 'uploaded', [{ at: 'storage', kind: 'raw', what: 'garbage' }]],
  ['lost', 'uploaded', [{ at: 'storage', kind: 'lose-answer', stored: true, how: 'rst' }]],
  ['etag', 'uploaded', [{ at: 'storage', kind: 'success', etag: 'wrong' }]],
  [
    'moved',
    'uploaded',
    [
      {
        ...{ at: 'storage', kind: 'redirect', status: 307 },
        location: 'https://user:word-of-the-redirect@example.com/?token=of-the-redirect',
      },
    ],
  ],
  ['too-large', 'failed', [{ at: 'storage', kind: 's3-error', code: 'EntityTooLarge' }]],
]

/** spellings returns the secret in all likely encodings. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [
    secret,
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
  ]
}

/** filesBelow returns all files below a folder as text that keeps every byte. */
function filesBelow(folder: string): Array<[name: string, content: string]> {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name), 'latin1')])
}

async function siteBehind(proxy: RecordingProxy, method: 'signature' | 'apiKey'): Promise<Site> {
  vi.stubEnv('HTTP_PROXY', `http://user:${PROXY_PASSWORD}@127.0.0.1:${proxy.port}`)
  for (const name of ['http_proxy', 'NO_PROXY', 'no_proxy']) vi.stubEnv(name, undefined)
  const site = await Site.open(
    {},
    {
      clock: quickClock(),
      callers: [
        {
          ...{ partner: 'acme', secret: KEYS.signature, apiKey: KEYS.apiKey },
          partnerAccounts: faultsWith('').map(([account]) => account),
        },
      ],
    },
  )
  writeFileSync(join(site.root, 'service.key'), KEYS[method])
  site.configure({
    service: {
      ...{ account: undefined, partner: 'acme', auth: { method, keyFile: 'service.key' } },
    },
    feeds: [{ match: '{1}/*.xml', name: '{1}', partnerAccount: '{1}' }],
    inbox: { receipts: true },
    alerts: [{ on: ['failed'], webhook: `https://127.0.0.1:1/services/${WEBHOOK_TOKEN}` }],
    log: { level: 'trace' },
  })
  return site
}

/** refusedOnce waits until the first attempt is refused. The next attempt can come at once or in half a minute. */
async function refusedOnce(site: Site, feed: string): Promise<void> {
  await eventually(() => {
    const [version] = site.uploads({ feed })
    const [first] = version === undefined ? [] : site.show(version.id).attempts
    expect(first?.outcome).toBe('refused')
  })
}

it.each(['signature', 'apiKey'] as const)(
  'a daemon that goes through the faults shows, writes and answers no secret (%s)',
  async (method) => {
    const faults = faultsWith(KEYS[method])
    await using proxy = await recordingProxy({ service: 'echo-service', storage: 'echo-storage' })
    await using site = await siteBehind(proxy, method)
    for (const [account, , rules] of faults)
      for (const rule of rules)
        site.sandbox.faults.add({
          ...{ ...rule, times: 1 },
          ...(rule.at === 'service' ? { account } : { key: `/${account}_` }),
        })
    const daemon = await site.daemon()

    for (const [account] of faults) site.drop(`${account}/jobs.xml`, feedOf(2, account))
    await eventually(() => expect(site.uploads()).toHaveLength(faults.length))
    for (const [account, ending] of faults)
      if (ending === 'waiting') await refusedOnce(site, account)
      else await site.until(account, ending)
    // This fault is last, because nothing is sent after it.
    site.sandbox.faults.add({ at: 'service', kind: 'signature-mismatch' })
    site.drop('fine/jobs.xml', feedOf(4))
    await eventually(() => expect(site.uploads({ feed: 'fine' })[0]?.reason).toMatch(/refused/))
    const commands = [
      ['status', '--all'],
      ['status', '--all', '--json'],
      ['show', 'moved/jobs.xml'],
      ['config', 'print'],
      ['config', 'check'],
      ['show', '1'],
    ]
    const answers = await Promise.all(commands.map((command) => site.run(...command)))
    const whileItRan = filesBelow(join(site.root, 'state'))
    const { stdout, stderr, code } = await daemon.stop()

    expect(code).toBe(0)
    expect(proxy.echoes()).toBe(2)
    expect(stdout).toContain('"level":"debug"')
    const places: Array<[string, string]> = [
      ['the log', stdout],
      ['stderr', stderr],
      ...answers.map((ran, n): [string, string] => [
        `the answer of ${commands[n]?.join(' ')}`,
        ran.stdout + ran.stderr,
      ]),
      ...site
        .uploads({ all: true })
        .map(({ id }): [string, string] => [`show ${id} --json`, JSON.stringify(site.show(id))]),
      ...whileItRan,
      ...filesBelow(join(site.root, 'state')),
      ...filesBelow(site.inbox),
    ]
    expect(whileItRan.map(([name]) => name)).toContain('feedsyncd.db-wal')
    const secrets = [
      ...[...Object.values(KEYS), PROXY_PASSWORD, WEBHOOK_TOKEN],
      ...['word-of-the-redirect', 'of-the-redirect'],
      ...proxy.secrets,
    ]
    // Five fields of each form, and the caller's credentials.
    expect(proxy.secrets.size).toBeGreaterThan(faults.length)
    const found = places.flatMap(([name, text]) =>
      secrets
        .filter((secret) => spellings(secret).some((one) => text.includes(one)))
        .map((secret) => `${secret.slice(0, 40)} in ${name}`),
    )
    expect(found).toEqual([])
    const bugs = site.sandbox.requests().filter(({ code }) => code?.startsWith('sandbox-bug'))
    expect(bugs).toEqual([])
  },
)

it('a daemon adds no secret to its command line or environment, and has no children', async () => {
  await using proxy = await recordingProxy(null)
  await using site = await siteBehind(proxy, 'signature')
  const daemon = await site.daemonProcess()
  site.drop('fine/jobs.xml', feedOf(2))
  await site.until('fine', 'uploaded')

  const of = (file: string) => readFileSync(`/proc/${daemon.pid}/${file}`, 'latin1')
  const secrets = [...Object.values(KEYS), PROXY_PASSWORD, WEBHOOK_TOKEN, ...proxy.secrets]
  const shownBy = (text: string) => secrets.filter((secret) => text.includes(secret))

  expect(shownBy(of('cmdline'))).toEqual([])
  expect(shownBy(of('environ'))).toEqual([PROXY_PASSWORD])
  expect(of(`task/${daemon.pid}/children`).trim()).toBe('')
})
