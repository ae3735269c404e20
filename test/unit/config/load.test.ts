import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Config } from '../../../src/config/config.ts'
import { findConfig, loadConfig } from '../../../src/config/load.ts'
import { DAY, HOUR, MINUTE } from '../../../src/lib/clock.ts'
import { FeedsyncError } from '../../../src/lib/errors.ts'

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'feedsyncd-config-'))
  file = join(folder, 'feedsyncd.yaml')
})

afterEach(() => rmSync(folder, { recursive: true }))

const LEAST = 'service:\n  baseUrl: https://api.example.com\n  account: "123"\n'

function load(text: string | Buffer, env: Record<string, string> = {}): Config {
  writeFileSync(file, text)
  return loadConfig(file, env).config
}

function failure(run: () => unknown): FeedsyncError {
  try {
    run()
  } catch (error) {
    if (error instanceof FeedsyncError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('a file with an address and an account', () => {
  it('is complete: everything else has the defaults of the contract', () => {
    expect(load(LEAST)).toEqual({
      service: {
        baseUrl: 'https://api.example.com',
        identity: { account: '123' },
        headerPrefix: 'X-SVC-',
        presignPath: '/v1/presigned-storage-posting-post',
        auth: {
          method: 'signature',
          algorithm: 'hmac-sha1',
          keyFile: join(folder, 'service.key'),
          stringToSign: '{method}{path}?{query};{body};{date}',
        },
      },
      inbox: {
        directory: join(folder, 'inbox'),
        include: ['**/*.xml', '**/*.xml.gz'],
        exclude: [],
        rescanMs: 30_000,
        quietPeriodMs: 1000,
        incompleteAfterMs: 15 * MINUTE,
        afterUpload: 'keep',
        afterReject: 'keep',
        archiveDirectory: join(folder, 'state', 'archive'),
        quarantineDirectory: join(folder, 'state', 'quarantine'),
        receipts: false,
      },
      feeds: [],
      guards: { maxDropPercent: 50, minPostings: 1, secondFeed: 'hold' },
      upload: { concurrency: 4, keepVersions: 3, maxRate: null },
      campaigns: {
        file: join(folder, 'campaigns.yaml'),
        explicit: false,
        mode: 'targeting',
      },
      state: { directory: join(folder, 'state'), historyForMs: 400 * DAY, expectHistory: false },
      http: { listen: null },
      alerts: [],
      log: { level: 'info', format: 'auto' },
    })
  })

  it('may begin with a BOM and have Windows line ends', () => {
    const text = `\ufeff${LEAST.replaceAll('\n', '\r\n')}`

    expect(load(text).service.identity).toEqual({ account: '123' })
  })

  it('may have blocks whose lines are all commented out', () => {
    const text = `${LEAST}  auth:\ninbox:\n#  rescan: 1m\nfeeds:\nalerts:\nlog:\n`

    expect(load(text)).toEqual(load(LEAST))
  })
})

describe('values', () => {
  it('are resolved: units to ms and bytes, paths against the folder of the file', () => {
    const config = load(`${LEAST}
inbox: { directory: ../drop, rescan: 2m, archiveDirectory: /srv/done, afterUpload: archive }
upload: { maxRate: 5MiB }
campaigns: { file: campaigns.yaml }
http: { listen: "[::1]:9464" }
feeds:
  - { match: "{1}/*.xml", name: "{1}", records: /source/job, fields: { id: ref }, expectEvery: 26h }
alerts:
  - { on: [held, failed], exec: [/bin/page, now] }
`)

    expect(config.inbox).toMatchObject({
      directory: join(folder, '../drop'),
      rescanMs: 120_000,
      archiveDirectory: '/srv/done',
    })
    expect(config.upload.maxRate).toBe(5 * 2 ** 20)
    expect(config.campaigns).toMatchObject({ explicit: true })
    expect(config.http.listen).toEqual({ kind: 'tcp', host: '::1', port: 9464 })
    expect(config.feeds).toEqual([
      {
        match: '{1}/*.xml',
        name: '{1}',
        dated: true,
        partnerAccount: null,
        encoding: null,
        records: '/source/job',
        fields: { id: 'ref' },
        expectEveryMs: 26 * HOUR,
      },
    ])
    expect(config.alerts).toEqual([
      { on: ['held', 'failed'], action: { kind: 'exec', command: ['/bin/page', 'now'] } },
    ])
  })

  it('for the address lose the slash at the end, keep the path prefix, and can be http for loopback', () => {
    const addressed = (url: string) => load(LEAST.replace('https://api.example.com', url)).service

    expect(addressed('https://API.example.com/api/').baseUrl).toBe('https://api.example.com/api')
    expect(addressed('http://127.0.0.1:8080').baseUrl).toBe('http://127.0.0.1:8080')
    expect(addressed('http://[::1]:8080/').baseUrl).toBe('http://[::1]:8080')
    expect(addressed('http://localhost').baseUrl).toBe('http://localhost')
  })

  it('keep a partner and its account together', () => {
    const partner = LEAST.replace('account: "123"', 'partner: acme\n  partnerAccount: "42"')

    expect(load(partner).service.identity).toEqual({
      partner: 'acme',
      partnerAccount: '42',
    })
  })

  it('resolve the socket of the health endpoint relative to the file', () => {
    expect(load(`${LEAST}http: { listen: ./health.sock }\n`).http.listen).toEqual({
      kind: 'unix',
      path: join(folder, 'health.sock'),
    })
  })

  it('show only the origin of a webhook when they are printed', () => {
    const text = `${LEAST}alerts: [{ on: [held], webhook: "https://hooks.example.com/T0/s3cr3t" }]\n`

    const config = load(text)

    expect(JSON.stringify(config)).toContain('https://hooks.example.com')
    expect(JSON.stringify(config)).not.toContain('s3cr3t')
  })
})

describe('the key file', () => {
  it("is systemd's credential if there is one", () => {
    const { keyFile } = load(LEAST, { CREDENTIALS_DIRECTORY: '/run/credentials/x' }).service.auth

    expect(keyFile).toBe('/run/credentials/x/service-key')
  })

  it('is the one that the configuration names, also under systemd', () => {
    const text = `${LEAST}  auth: { keyFile: other.key }\n`

    const { keyFile } = load(text, { CREDENTIALS_DIRECTORY: '/run/credentials/x' }).service.auth

    expect(keyFile).toBe(join(folder, 'other.key'))
  })
})

describe('finding the file', () => {
  it('prefers the flag, then the environment, then the default place', () => {
    const env = { FEEDSYNCD_CONFIG: '/env.yaml' }

    expect(findConfig('/flag.yaml', env)).toBe('/flag.yaml')
    expect(findConfig(undefined, env)).toBe('/env.yaml')
    expect(findConfig(undefined, { FEEDSYNCD_CONFIG: '' })).toBe('/etc/feedsyncd/feedsyncd.yaml')
  })

  it('says that there is none, and names the option for it; exit 78', () => {
    const error = failure(() => loadConfig(file, {}))

    expect(error.message).toBe(`the configuration file ${file} does not exist (ENOENT)`)
    expect(error.hint).toMatch(/--config/)
    expect(error.exitCode).toBe(78)
  })

  const LINK = 'link.yaml'
  const FIFO = 'fifo.yaml'
  const LATIN1 = 'latin1.yaml'

  it.each([
    ['a folder', '.', 'is a directory (EISDIR)'],
    ['a link in a circle', LINK, 'cannot be followed (ELOOP)'],
    ['not UTF-8', LATIN1, 'is not UTF-8'],
    ['a fifo', FIFO, 'is not a regular file'],
    ['a device', '/dev/zero', 'is not a regular file'],
    ['below a file', `${LATIN1}/x`, 'not a directory (ENOTDIR)'],
  ])('reports a path that is %s, with a hint; exit 78', (_, name, words) => {
    symlinkSync(LINK, join(folder, LINK))
    execFileSync('mkfifo', [join(folder, FIFO)])
    writeFileSync(join(folder, LATIN1), Buffer.from([0x61, 0xff]))

    const error = failure(() => loadConfig(resolve(folder, name), {}))

    expect(error.message).toContain(words)
    expect(error.hint).toEqual(expect.stringMatching(/./))
    expect(error.exitCode).toBe(78)
  })
})

describe('a warning', () => {
  const PARTNER = LEAST.replace('account: "123"', 'partner: acme')
  /** The line, and the key. */
  const placeOf = (warning: string) => {
    const [, line, key] = /:(\d+):\d+ (\S+): /.exec(warning) ?? []
    return [Number(line), key]
  }
  const warnings = (text: string) => {
    writeFileSync(file, text)
    return loadConfig(file, {}).warnings.map(placeOf)
  }

  it('names the partner if no account is given for it', () => {
    expect(warnings(PARTNER)).toEqual([[3, 'service.partner']])
  })

  it('is not given for an account, for the bulk route, or if the partner or a rule for all paths has an account', () => {
    const bulk = `${PARTNER}  presignPath: /v1/presigned-storage-bulk-posting-post\n`
    const own = `${PARTNER}  partnerAccount: "42"\n`
    const ruled = ['**', '**/*', '**/*.xml'].map(
      (match) => `${PARTNER}feeds: [{ match: "${match}", partnerAccount: "42" }]\n`,
    )

    for (const text of [LEAST, bulk, own, ...ruled]) expect(warnings(text)).toEqual([])
  })

  it('names each rule without a partner account, and the partner if a path can be without a rule', () => {
    const rules = '[{ match: "a/**" }, { match: "{1}/*.xml", partnerAccount: "{1}" }]'
    expect(warnings(`${PARTNER}feeds: ${rules}\n`)).toEqual([
      [4, 'feeds[0].match'],
      [3, 'service.partner'],
    ])
    const all = '[{ match: "{1}/*.xml", partnerAccount: "{1}" }, { match: "**", name: x }]'
    expect(warnings(`${PARTNER}feeds: ${all}\n`)).toEqual([[4, 'feeds[1].match']])
  })

  it('names a partner account that has no effect without a partner, and the account is ignored', () => {
    writeFileSync(file, `${LEAST}feeds: [{ match: "{1}/*.xml", partnerAccount: "{1}" }]\n`)

    const { config, warnings } = loadConfig(file, {})

    expect(config.feeds[0]?.partnerAccount).toBe(null)
    expect(warnings.map(placeOf)).toEqual([[4, 'feeds[0].partnerAccount']])
  })
})
