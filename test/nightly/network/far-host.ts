// A daemon in a network name space, and the sandbox at the other end of a line with a delay, behind TLS, as far.test.
// Needs root, python3, ip and openssl.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Site } from '../../helpers/site.ts'

/** HERE is the address of this host's end of the line. */
const HERE = '10.213.7.1'
/** NOBODY is an address that no host has, so packets to it are lost. */
export const NOBODY = '10.213.7.99'
/** DEAD is an IPv6 address. The line carries no IPv6, so packets to this address are lost. */
const DEAD = 'fd00:213::1'
const BASE_PATH = '/api'

/** whyNot returns why this host cannot make the line, or null. */
export function whyNot(): string | null {
  if (process.getuid?.() !== 0) return 'it needs root'
  const missing = ['ip', 'python3', 'openssl'].filter((name) => spawnSync(name, ['-V']).error)
  return missing.length === 0 ? null : `it needs ${missing.join(', ')}`
}

export interface FarOptions {
  /** How long a packet takes from one end of the line to the other, in ms. */
  delayMs: number
  /** The family of addresses of far.test that the system tries first. `none` means that only a name server knows it. */
  first: 'IPv4' | 'IPv6' | 'none'
  /** The content of /etc/resolv.conf. */
  resolv?: string
}

export class FarHost implements AsyncDisposable {
  readonly site: Site
  readonly #namespace: string
  readonly #owned: AsyncDisposableStack

  private constructor(site: Site, namespace: string, owned: AsyncDisposableStack) {
    this.site = site
    this.#namespace = namespace
    this.#owned = owned
  }

  static async open({ delayMs, first, resolv = '' }: FarOptions): Promise<FarHost> {
    await using opened = new AsyncDisposableStack()
    const site = await Site.open()
    const namespace = `fs${process.pid}`
    run('ip', 'netns', 'add', namespace)
    opened.defer(() => run('ip', 'netns', 'del', namespace))
    const line = spawn('python3', [join(import.meta.dirname, 'line.py'), namespace, `${delayMs}`], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    opened.defer(() => ended(line))
    await once(line.stdout, 'data')
    opened.use(await nameServer())
    // The daemons end first.
    opened.use(site)
    const front = await frontOf(site)
    opened.defer(front.close)
    const addresses = { IPv4: [HERE, DEAD], IPv6: [DEAD, HERE], none: [] }[first]
    const [six, four] = first === 'IPv6' ? [100, 10] : [10, 100]
    const write = (name: string, text: string) => writeFileSync(join(site.root, name), text)
    write('hosts', addresses.map((address) => `${address} far.test\n`).join(''))
    write('resolv.conf', resolv)
    write('gai.conf', `precedence ::/0 ${six}\nprecedence ::ffff:0:0/96 ${four}\n`)
    site.configure({ service: { baseUrl: `https://far.test:${front.port}${BASE_PATH}` } })
    site.env = { NODE_EXTRA_CA_CERTS: front.certificate }
    return new FarHost(site, namespace, opened.move())
  }

  /** start starts a command of feedsyncd at the other end of the line. */
  start(...args: string[]): ChildProcess {
    const mounts = ['hosts', 'resolv.conf', 'gai.conf'].map(
      (name) => `mount --bind ${join(this.site.root, name)} /etc/${name}`,
    )
    const script = `set -e; ${mounts.join('; ')}; exec "$@"`
    const inside = ['ip', 'netns', 'exec', this.#namespace, 'unshare', '-m', 'sh', '-c', script]
    return this.site.spawnBy([...inside, 'sh'], ...args)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync()
  }
}

/** frontOf passes the requests of https://far.test on to both sides of the sandbox, and the forms name far.test. */
async function frontOf(site: Site) {
  const [key, certificate] = ['far.key', 'far.pem'].map((name) => join(site.root, name)) as [
    string,
    string,
  ]
  run(
    ...[
      'openssl',
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
    ],
    ...['-keyout', key, '-out', certificate, '-days', '2', '-subj', '/CN=far.test'],
    ...['-addext', 'subjectAltName=DNS:far.test'],
  )
  let storage = new URL(site.sandbox.url)
  const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) })
  server.on('request', (incoming, outgoing) => {
    const isService = incoming.url?.startsWith(BASE_PATH)
    const { hostname, port } = isService ? new URL(site.sandbox.url) : storage
    const headers = { ...incoming.headers, host: `${hostname}:${port}` }
    const { method, url: path } = incoming
    const onward = request({ hostname, port, method, path, headers }, async (answer) => {
      const body = Buffer.concat(await answer.toArray()).toString('latin1')
      const told = body.replace(/http:\/\/127[.:\d]+/g, (url) => {
        storage = new URL(url)
        return `https://far.test:${portOf(server)}`
      })
      const { 'content-length': _, ...rest } = answer.headers
      outgoing.writeHead(answer.statusCode ?? 500, rest).end(Buffer.from(told, 'latin1'))
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  server.listen(0, HERE)
  await once(server, 'listening')
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { port: portOf(server), certificate, close }
}

const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port

/**
 * nameServer starts a name server at this host's end of the line. It knows the IPv4 address of far.test and no other
 * name.
 */
async function nameServer(): Promise<AsyncDisposable> {
  const server = createSocket('udp4', (query, from) => {
    const end = query.indexOf(0, 12) + 5
    const isFar = query.subarray(12, end - 4).equals(Buffer.from('\x03far\x04test\0'))
    const isIPv4 = query.readUInt16BE(end - 4) === 1
    const found =
      isFar && isIPv4 ? [Buffer.from('c00c000100010000003c0004', 'hex'), addressBytes(HERE)] : []
    const head = Buffer.from(query.subarray(0, 12))
    head.writeUInt16BE(isFar ? 0x8180 : 0x8183, 2)
    head.writeUInt16BE(found.length === 0 ? 0 : 1, 6)
    head.fill(0, 8)
    server.send(Buffer.concat([head, query.subarray(12, end), ...found]), from.port, from.address)
  })
  server.bind(53, HERE)
  await once(server, 'listening')
  return server
}

const addressBytes = (address: string) => Buffer.from(address.split('.').map(Number))

async function ended(child: ChildProcess): Promise<void> {
  child.stdin?.end()
  if (child.exitCode === null) await once(child, 'exit')
}

function run(program: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`)
}
