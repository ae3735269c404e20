// A daemon behind a proxy that is also service and storage. The proxy repeats a secret in its first answer for each
// feed. Then the test searches everything that the daemon wrote, printed and answered for secrets.

import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import {
  EchoingHost,
  FORM_PLACES,
  SERVICE_PLACES,
  STORAGE_PLACES,
} from '../helpers/echoing-host.ts'
import { ESCAPES } from '../helpers/escapes.ts'
import { eventually } from '../helpers/eventually.ts'
import { quickClock } from '../helpers/quick-clock.ts'
import { feedOf, lettersOf, Site } from '../helpers/site.ts'

const WAYS = Object.keys(ESCAPES)
const SECRETS = ['key', 'signature', 'proxy', 'proxy password'].concat(
  ['policy', 'credential', 'security-token', 'signature'].map((name) => `form ${name}`),
)
/** A 403 puts an account on hold for some minutes, so this place comes last. */
const LAST = 'the message of a 403'
const PLACES = Object.keys({ ...SERVICE_PLACES, ...FORM_PLACES, ...STORAGE_PLACES }).filter(
  (place) => place !== LAST,
)

/** echoOf chooses the secret that the host repeats in a place, and how the host escapes it. */
function echoOf(place: string, n: number): { secret: string; way: string } {
  // The name of a host can have only letters and digits, as the password of the proxy has.
  if (place.includes('host')) return { secret: 'proxy password', way: 'as it is' }
  const secret = SECRETS[n % SECRETS.length] ?? ''
  // Addresses have their own escapes.
  if (/path|query/.test(place)) return { secret, way: 'as it is' }
  // Only an attacker would encode a form field again. Keys and passwords are also hidden as Base64 and hex.
  const ways = /^key|password/.test(secret)
    ? WAYS
    : WAYS.filter((way) => !/^(Base64|hex)/.test(way))
  return { secret, way: ways[n % ways.length] ?? '' }
}

const PAGES = [
  '/',
  '/feed?name=feed-b.xml',
  '/version?id=5',
  '/version?id=9',
  '/metrics',
  '/readyz',
  '/api/status',
]

async function fetched(socketPath: string, path: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request({ socketPath, path, headers: { host: 'localhost' } }, resolve)
    .on('error', reject)
    .end()
  return Buffer.concat(await (await promise).toArray()).toString()
}

const letters = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '')
/** GRAM is how many letters and digits in a row give a secret away. */
const GRAM = 10

/** gramsOf returns every part of GRAM letters and digits of the secrets, and of their hexadecimal forms. */
function gramsOf(secrets: Iterable<string>): Map<string, string> {
  const grams = new Map<string, string>()
  for (const secret of secrets)
    for (const form of [secret, Buffer.from(secret).toString('hex')].map(letters))
      for (let at = 0; at + GRAM <= form.length; at++) grams.set(form.slice(at, at + GRAM), secret)
  return grams
}

/** leaksIn returns the secrets of which a text has GRAM letters and digits in a row. Other characters do not count. */
function leaksIn(text: string, secrets: ReadonlyMap<string, string>): string[] {
  const all = letters(text)
  const found = new Set<string>()
  for (let at = 0; at + GRAM <= all.length; at++) {
    const secret = secrets.get(all.slice(at, at + GRAM))
    if (secret !== undefined) found.add(secret)
  }
  return [...found]
}

function filesBelow(folder: string): [name: string, content: string][] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => [name, name + readFileSync(join(parentPath, name), 'latin1')])
}

it('a daemon never shows the secrets that service and storage repeat in their answers', async () => {
  const key = `Key/${randomBytes(12).toString('base64')}+x`
  const password = randomBytes(12).toString('hex')
  await using host = await EchoingHost.open()
  vi.stubEnv('HTTP_PROXY', `http://u:${password}@127.0.0.1:${host.port}`)
  for (const name of ['http_proxy', 'NO_PROXY', 'no_proxy']) vi.stubEnv(name, undefined)
  await using site = await Site.open({}, { clock: quickClock() })
  const alerts = join(site.root, 'alerts.txt')
  const socket = join(site.root, 'http.sock')
  writeFileSync(join(site.root, 'service.key'), key)
  site.configure({
    service: { baseUrl: 'http://127.0.0.1:2/api', account: '1', auth: { keyFile: 'service.key' } },
    inbox: { receipts: true },
    http: { listen: socket },
    alerts: [{ on: ['rejected', 'failed', 'credentials'], exec: ['sh', '-c', `cat >> ${alerts}`] }],
    log: { level: 'trace' },
  })
  const daemon = await site.daemon()
  const secrets = new Set([key, password])
  const note = () => {
    for (const value of host.received.values()) secrets.add(value.replace(/\/2026.*/, ''))
  }
  host.received.set('key', key).set('proxy password', password)
  site.drop('first.xml', feedOf(1))
  await site.until('first.xml', 'uploaded')

  for (const [n, place] of PLACES.entries()) {
    const { secret, way } = echoOf(place, n)
    host.plan = {
      ...{ place, secret },
      escape: (text) => {
        note()
        host.plan = null
        return ESCAPES[way]?.(text) ?? ''
      },
    }
    site.drop(`feed-${lettersOf(n)}.xml`, feedOf(1, `f${n}`))
    await eventually(() => expect(host.plan).toBeNull())
    await eventually(() =>
      expect(site.show(n + 2).attempts.some(({ endedAt }) => endedAt !== null)).toBe(true),
    )
    note()
  }
  // After this answer the daemon sends nothing more, and an alert reports that.
  host.plan = {
    ...{ place: LAST, secret: 'key' },
    escape: (text) => ESCAPES['JSON with \\/']?.(text) ?? '',
  }
  site.drop('last.xml', feedOf(1, 'last'))
  await eventually(() => expect(readFileSync(alerts, 'utf8')).toContain('credentials'))
  const said = await Promise.all(
    [
      ...[
        ['status', '--all'],
        ['status', '--all', '--json'],
        ['status', '--check'],
      ],
      ...PLACES.flatMap((_, n) => [
        ['show', `${n + 2}`],
        ['show', `feed-${lettersOf(n)}.xml`],
      ]).slice(0, 12),
      ['show', '8', '--json'],
    ].map((command) => site.run(...command)),
  )
  const pages = await Promise.all(PAGES.map((path) => fetched(socket, path)))
  const whileItRan = filesBelow(site.root)
  const { stdout, stderr } = await daemon.stop()

  expect(host.echoes).toBeGreaterThanOrEqual(PLACES.length)
  expect(whileItRan.map(([name]) => name)).toContain('feedsyncd.db-wal')
  const written = [...whileItRan, ...filesBelow(site.root)].filter(
    ([name]) => name !== 'service.key',
  )
  const places: [string, string][] = [
    ['the log', stdout],
    ['stderr', stderr],
    ...said.map((ran, n): [string, string] => [`command ${n}`, ran.stdout + ran.stderr]),
    ...pages.map((text, n): [string, string] => [`page ${n}`, text]),
    ...written,
  ]
  const grams = gramsOf(secrets)
  const found = places.flatMap(([name, text]) =>
    leaksIn(text, grams).map((secret) => `${secret} in ${name}`),
  )
  expect(secrets.size).toBeGreaterThan(PLACES.length)
  expect(found).toEqual([])
})

it('campaign calls and doctor never show the secrets that the service repeats', async () => {
  const key = `Key/${randomBytes(12).toString('base64')}+x`
  const password = randomBytes(12).toString('base64url')
  await using host = await EchoingHost.open()
  vi.stubEnv('HTTP_PROXY', `http://u:${password}@127.0.0.1:${host.port}`)
  for (const name of ['http_proxy', 'NO_PROXY', 'no_proxy']) vi.stubEnv(name, undefined)
  await using site = await Site.open({}, { clock: quickClock() })
  writeFileSync(join(site.root, 'service.key'), key)
  site.configure({
    service: {
      baseUrl: 'http://127.0.0.1:2/api',
      account: '1',
      auth: { keyFile: 'service.key' },
    },
  })
  host.received.set('key', key)
  const secrets = () => new Set([key, password, ...host.received.values()])
  const found: string[] = []
  for (const [n, way] of WAYS.entries()) {
    const isEncoded = /^(Base64|hex)/.test(way)
    const secret = isEncoded ? 'key' : (['key', 'signature', 'proxy'][n % 3] ?? '')
    host.plan = { place: '', secret, escape: (text) => ESCAPES[way]?.(text) ?? '' }
    host.other = (_, response, text) => {
      const odd = { name: `for ${text}`, accountId: text, [`x ${text}`]: { deep: [text] } }
      const row = { id: '7', ...odd, self: `https://u:${text}@a.example/` }
      response.writeHead(n === 5 ? 422 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ ...row, total: 1, rows: [row] }))
    }
    for (const command of [
      ['campaigns', 'get', '7', ...(n % 2 === 0 ? ['--json'] : [])],
      ['campaigns', 'search', '--json'],
    ]) {
      const { stdout, stderr } = await site.run(...command)
      const leaks = leaksIn(stdout + stderr, gramsOf(secrets()))
      found.push(...leaks.map((leak) => `${leak} in ${command}`))
    }
  }
  const doctor = await site.run('doctor')
  found.push(...leaksIn(doctor.stdout + doctor.stderr, gramsOf(secrets())))

  expect(host.echoes).toBeGreaterThan(2 * WAYS.length)
  expect(found).toEqual([])
})
