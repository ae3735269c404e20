// One run of the soak. The seed chooses all actions: it drops, replaces and removes feeds, takes decisions, lets
// service and storage fail, makes the key wrong for some time, and kills the daemon.

import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { State } from '../../../src/history/port.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import type { UploadReport } from '../../../src/ops/upload-report.ts'
import type { FaultRule } from '../../../src/sandbox/faults/fault-types.ts'
import { feedOf, finished, SECRET, Site } from '../../helpers/site.ts'
import { Trouble } from './trouble.ts'
import type { Expected, Played } from './verdict.ts'

const FAULTS: readonly FaultRule[] = [
  { at: 'service', kind: 'answer', status: 503 },
  { at: 'service', kind: 'answer', status: 403 },
  { at: 'service', kind: 'drop', point: 'headers', how: 'rst' },
  { at: 'service', kind: 'json', variant: 'truncated' },
  { at: 'service', kind: 'form', lifetimeMs: -1000 },
  { at: 'service', kind: 'slow', headersAfterMs: 300 },
  { at: 'storage', kind: 's3-error', code: 'SlowDown', retryAfter: '1' },
  { at: 'storage', kind: 's3-error', code: 'InternalError', point: 'middle', ending: 'destroy' },
  { at: 'storage', kind: 's3-error', code: 'ExpiredToken' },
  { at: 'storage', kind: 's3-error', code: 'EntityTooLarge' },
  { at: 'storage', kind: 'drop-at-byte', fileByte: 1, how: 'rst' },
  { at: 'storage', kind: 'lose-answer', stored: true, how: 'rst' },
  { at: 'storage', kind: 'lose-answer', stored: false, how: 'fin' },
  { at: 'storage', kind: 'stall', fileByte: 1, ms: 600, afterwards: 'continue' },
  { at: 'storage', kind: 'success', etag: 'opaque' },
  { at: 'storage', kind: 'interim', status: 100 },
  { at: 'storage', kind: 'answer', status: 204, point: 'headers' },
  { at: 'storage', kind: 'answer', status: 204, point: 'middle', ending: 'destroy' },
  { at: 'storage', kind: 'success', status: 200, body: 'html', etag: 'missing', stored: false },
]

const ACCOUNTS = ['north', 'south', 'west']
const MOMENTS: readonly State[] = [
  'settling',
  'checking',
  'held',
  'queued',
  'uploading',
  'uploaded',
]

export const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')

/** random is Mulberry32, a small generator with a seed, good enough to choose actions. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

export class Play implements AsyncDisposable {
  readonly #next: () => number
  readonly #site: Site
  readonly #played: Played
  readonly #paths: readonly string[]
  readonly #earlier = new Map<string, string[]>()
  #daemon: ChildProcess | null = null
  readonly #trouble: Trouble

  private constructor(next: () => number, site: Site, played: Played, paths: readonly string[]) {
    this.#next = next
    this.#site = site
    this.#played = played
    this.#paths = paths
    this.#trouble = new Trouble(site)
    this.#trouble.returned = (path) => this.#expectFolderFile(path)
  }

  /** open prepares a host. A third of the hosts belong to a partner, with a folder for each account. */
  static async open(seed: number): Promise<Play> {
    const next = random(seed)
    const isPartner = next() < 0.33
    const [upload, reject] = [next(), next()]
    const afterUpload = upload < 0.5 ? 'keep' : upload < 0.8 ? 'archive' : 'delete'
    const quarantine = { afterReject: 'quarantine', incompleteAfter: '2s' }
    const inbox = { afterUpload, receipts: next() < 0.2, ...(reject < 0.3 ? quarantine : {}) }
    const partner = {
      service: { partner: 'acme', account: undefined },
      feeds: [{ match: '{1}/*.xml', name: '{1}', partnerAccount: '{1}' }],
    }
    const site = await Site.open(
      { upload: { concurrency: 2 }, inbox, ...(isPartner ? partner : {}) },
      isPartner ? { callers: [{ partner: 'acme', secret: SECRET }] } : {},
    )
    const paths = isPartner
      ? ACCOUNTS.map((account) => `${account}/jobs.xml`)
      : ['a.xml', 'b.xml', 'deep/c.xml']
    const played: Played = {
      ...{ site, afterUpload, rejectsEarly: reject < 0.3 },
      feedOf: (path) => (isPartner ? (path.split('/')[0] ?? '') : path),
      ...{ expected: new Map(), inFolder: new Map(), whole: new Map() },
      ...{ released: new Set(), discarded: new Set(), troubled: false, trace: [] },
    }
    return new Play(next, site, played, paths)
  }

  /** play takes random actions, then ends all faults and waits until nothing is left to do. */
  async play(): Promise<Played> {
    for (let step = 0, steps = 8 + this.#int(8); step < steps; step++) {
      this.#daemon ??= await this.#site.daemonProcess()
      if (this.#chance(0.4)) this.#addFault()
      if (this.#chance(0.3)) this.#beginTrouble(this.#pick(this.#paths))
      await this.#act(this.#pick(this.#paths))
      if (this.#chance(0.4)) {
        await this.#waitForKillMoment()
        await this.#kill()
      } else await systemClock.sleep(this.#int(400))
    }
    await this.#kill()
    await this.#rest()
    return this.#played
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#site[Symbol.asyncDispose]()
  }

  /** #beginTrouble starts a trouble of the host, which lasts during the next actions. */
  #beginTrouble(path: string): void {
    this.#trace(this.#trouble.begin(path, (choices) => this.#pick(choices)))
    this.#played.troubled = true
  }

  #addFault(): void {
    const fault = { ...this.#pick(FAULTS), times: 1 + this.#int(2) } as FaultRule
    const account = this.#chance(0.5) ? { account: this.#pick(ACCOUNTS) } : {}
    this.#trace(`fault ${JSON.stringify({ ...fault, ...account })}`)
    this.#site.sandbox.faults.add({ ...fault, ...account } as FaultRule)
  }

  async #act(path: string): Promise<void> {
    const choice = this.#next()
    if (this.#chance(0.7)) this.#trouble.end()
    else this.#trouble.unlink()
    this.#trace(`act ${choice.toFixed(3)} on ${path}`)
    if (choice < 0.36) this.#dropNew(path)
    else if (choice < 0.44) this.#dropEarlier(path)
    else if (choice < 0.52) await this.#overtake(path)
    else if (choice < 0.61) this.#broken(path)
    else if (choice < 0.69) this.#cut(path)
    else if (choice < 0.75) this.#remove(path)
    else if (choice < 0.8) this.#touch(path)
    else if (choice < 0.9) await this.#decide(path)
    else if (choice < 0.95) this.#writeKey(this.#chance(0.5) ? 'a wrong key' : SECRET)
    else await this.#restore(path)
  }

  #dropNew(path: string, postings = 4 + this.#int(40)): void {
    // Two paths never have the same bytes, so that each object belongs to one path.
    const feed = feedOf(postings, `Nurse of ${path} ${this.#int(6)}`)
    this.#earlier.set(path, [...(this.#earlier.get(path) ?? []), feed])
    this.#dropFeed(path, feed, postings)
  }

  /** #dropEarlier drops an earlier feed again: A, B and A are three versions. */
  #dropEarlier(path: string): void {
    const feed = this.#earlier.get(path)?.at(-2)
    if (feed === undefined) this.#dropNew(path)
    else this.#dropFeed(path, feed, feed.split('<job>').length - 1)
  }

  #dropFeed(path: string, feed: string, postings: number): void {
    const expected = { kind: 'whole', sha256: sha256(feed), postings } as const
    this.#site.drop(path, feed)
    this.#expect(path, expected)
    this.#played.whole.set(expected.sha256, postings)
  }

  /** #overtake drops a newer version while an older one is being sent. */
  async #overtake(path: string): Promise<void> {
    this.#dropNew(path)
    const isTaken = (state?: string) => ['queued', 'uploading', 'uploaded'].includes(state ?? '')
    await this.#until(() => isTaken(this.#newest(path)?.state))
    this.#dropNew(path)
  }

  #broken(path: string): void {
    const broken = feedOf(4 + this.#int(40), `Nurse of ${path}`).replace('</title>', '</titel>')
    this.#site.drop(path, broken)
    this.#expect(path, { kind: 'broken', sha256: sha256(broken) })
  }

  #cut(path: string): void {
    const feed = feedOf(4 + this.#int(40), `Nurse of ${path}`)
    this.#site.drop(path, '')
    writeFileSync(join(this.#site.inbox, path), feed.slice(0, 60 + this.#int(feed.length - 80)))
    this.#expect(path, { kind: 'cut' })
  }

  #remove(path: string): void {
    rmSync(join(this.#site.inbox, path), { force: true })
    this.#expect(path, { kind: 'nothing' })
  }

  #touch(path: string): void {
    const file = join(this.#site.inbox, path)
    if (!existsSync(file)) return
    try {
      utimesSync(file, 1, 1)
      this.#trace(`${path} touched`)
      this.#expectFolderFile(path)
    } catch {
      // The daemon archived the file just now.
    }
  }

  /** #expectFolderFile expects the file in the folder again, also after a person restored another version. */
  #expectFolderFile(path: string): void {
    const inFolder = this.#played.inFolder.get(path)
    if (inFolder !== undefined) this.#played.expected.set(path, inFolder)
  }

  /** #decide releases or discards a held version. If none is held, it drops a feed with one posting. */
  async #decide(path: string): Promise<void> {
    const held = this.#site.uploads({ all: true, states: ['held'] })[0]
    if (held === undefined) {
      this.#dropNew(path, 1)
      return
    }
    const decision = this.#chance(0.5) ? 'release' : 'discard'
    const { code } = await this.#site.run(decision, String(held.id))
    if (code !== 0) return
    const decided = decision === 'release' ? this.#played.released : this.#played.discarded
    decided.add(held.id)
  }

  /** #restore restores an earlier version, but only while the newest version is uploaded and the expected version. */
  async #restore(path: string): Promise<void> {
    const { expected, feedOf: feed, whole } = this.#played
    const wanted = expected.get(path)
    const [newest, ...older] = this.#site.uploads({ feed: feed(path), all: true })
    const isRest = newest?.state === 'uploaded' && wanted?.kind === 'whole'
    if (!isRest || newest.sha256 !== wanted.sha256) return
    const earlier = older.find(({ state, sha256: hash }) => {
      return state === 'uploaded' && hash !== newest.sha256
    })
    if (earlier?.sha256 == null) return
    const { code } = await this.#site.run('restore', String(earlier.id))
    const postings = whole.get(earlier.sha256) ?? 0
    if (code === 0) this.#trace(`${path} restored: ${earlier.sha256}`)
    if (code === 0) expected.set(path, { kind: 'whole', sha256: earlier.sha256, postings })
  }

  #trace(what: string): void {
    this.#played.trace.push(`${new Date().toISOString()} ${what}`)
  }

  #expect(path: string, expected: Expected): void {
    this.#trace(`${path} expects: ${JSON.stringify(expected)}`)
    this.#played.expected.set(path, expected)
    this.#played.inFolder.set(path, expected)
  }

  #newest(path: string): UploadReport | undefined {
    return this.#site.uploads({ feed: this.#played.feedOf(path) })[0]
  }

  #writeKey(key: string): void {
    const file = join(this.#site.root, 'service.key')
    writeFileSync(`${file}.new`, `${key}\n`, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }

  /** #waitForKillMoment waits for a random time, for a version in some state, or for the middle of a request. */
  async #waitForKillMoment(): Promise<void> {
    const { sandbox } = this.#site
    const choice = this.#next()
    const seen = sandbox.requests().length
    if (choice < 0.3) {
      const side = choice < 0.1 ? 'service' : 'storage'
      await this.#until(() =>
        sandbox
          .requests()
          .slice(seen)
          .some((request) => request.side === side && request.endedAt === null),
      )
    } else if (choice < 0.7) {
      const states = [this.#pick(MOMENTS)]
      const count = () => this.#site.uploads({ all: true, states }).length
      const before = count()
      await this.#until(() => count() > before)
    }
    await systemClock.sleep(this.#int(choice > 0.7 ? 400 : 20))
  }

  /** #until waits until `holds` is true, but for at most half a second, because it might never be true. */
  async #until(holds: () => boolean): Promise<void> {
    for (let look = 0; look < 100 && !holds(); look++) await systemClock.sleep(5)
  }

  async #kill(): Promise<void> {
    const daemon = this.#daemon
    this.#daemon = null
    if (daemon === null || daemon.exitCode !== null) return
    daemon.kill('SIGKILL')
    await finished(daemon)
    this.#trace('killed')
  }

  /** #rest runs some passes without faults, after which every version has its final state. */
  async #rest(): Promise<void> {
    this.#site.sandbox.faults.clear()
    this.#trouble.end()
    this.#writeKey(SECRET)
    for (let pass = 0; pass < 6; pass++) {
      await this.#site.run('run', '--once')
      const waiting = this.#site.uploads({ all: true, states: ['queued', 'failed'] })
      // On a busy machine, a pass can end before a file has settled.
      const pending = this.#site.uploads({ all: true, states: ['settling', 'checking'] })
      const half = readdirSync(this.#site.inbox, { recursive: true, encoding: 'utf8' })
      const isTidy = !half.some((name) => name.endsWith('.taken'))
      if (waiting.length + pending.length === 0 && isTidy) break
      for (const { id } of waiting) await this.#site.run('retry', String(id))
    }
  }

  #int(below: number): number {
    return Math.floor(this.#next() * below)
  }

  #chance(share: number): boolean {
    return this.#next() < share
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[this.#int(choices.length)] as T
  }
}
