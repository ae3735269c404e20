// Random feeds, faults and kills, checked against a model: FEEDSYNCD_SOAK=1000 npx vitest run test/soak
// runs so many seeds (a few seconds each, four at a time), from FEEDSYNCD_SEED on (default 1). Opt-in, since
// it takes minutes. A failure names its seed; the same seed plays the same actions, though not to the ms.

import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import type { FaultRule } from '../../src/sandbox/fault-types.ts'
import { feedOf, finished, Site } from '../helpers/site.ts'

const RUNS = Number(process.env.FEEDSYNCD_SOAK ?? 0)
const FIRST = Number(process.env.FEEDSYNCD_SEED ?? 1)
const SIDE_BY_SIDE = 4
const SEEDS = Array.from({ length: RUNS }, (_, n) => FIRST + n)

/** Mulberry32: small, seeded, good enough to choose. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const FAULTS: readonly FaultRule[] = [
  { at: 'service', kind: 'answer', status: 503 },
  { at: 'service', kind: 'drop', point: 'headers', how: 'rst' },
  { at: 'service', kind: 'json', variant: 'truncated' },
  { at: 'service', kind: 'form', lifetimeMs: -1000 },
  { at: 'storage', kind: 's3-error', code: 'SlowDown', retryAfter: '1' },
  { at: 'storage', kind: 's3-error', code: 'InternalError', point: 'middle', ending: 'destroy' },
  { at: 'storage', kind: 's3-error', code: 'ExpiredToken' },
  { at: 'storage', kind: 'drop-at-byte', fileByte: 1, how: 'rst' },
  { at: 'storage', kind: 'lose-answer', stored: true, how: 'rst' },
  { at: 'storage', kind: 'lose-answer', stored: false, how: 'fin' },
  { at: 'storage', kind: 'stall', fileByte: 1, ms: 600, afterwards: 'continue' },
  { at: 'service', kind: 'slow', headersAfterMs: 300 },
  { at: 'storage', kind: 'success', etag: 'opaque' },
]

/** What the last thing that happened to a path leaves there. */
type Left =
  | { kind: 'whole'; sha256: string; postings: number }
  | { kind: 'broken'; sha256: string }
  | { kind: 'cut' }
  | { kind: 'nothing' }

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

class Run {
  readonly #next: () => number
  readonly #site: Site
  readonly #left = new Map<string, Left>()
  /** Every whole feed that ever stood in the folder: hash to postings. */
  readonly #whole = new Map<string, number>()
  #daemon: ChildProcess | null = null

  constructor(seed: number, site: Site) {
    this.#next = random(seed)
    this.#site = site
  }

  async play(): Promise<string[]> {
    for (let step = 0, steps = 8 + this.#int(8); step < steps; step++) {
      this.#daemon ??= await this.#site.daemon()
      if (this.#chance(0.4)) {
        const times = 1 + this.#int(2)
        this.#site.sandbox.faults.add({ ...this.#pick(FAULTS), times } as FaultRule)
      }
      this.#act(this.#pick(['a.xml', 'b.xml', 'deep/c.xml']))
      if (this.#chance(0.4)) {
        await this.#moment()
        await this.#kill()
      } else await systemClock.sleep(this.#int(400))
    }
    await this.#kill()
    return this.#settle()
  }

  #act(name: string): void {
    const path = join(this.#site.inbox, name)
    const postings = 4 + this.#int(40)
    const feed = feedOf(postings, `Nurse ${this.#int(6)}`)
    const choice = this.#next()
    if (choice < 0.55) {
      this.#site.drop(name, feed)
      this.#stands(name, { kind: 'whole', sha256: sha256(feed), postings })
    } else if (choice < 0.7) {
      const broken = feed.replace('</title>', '</titel>')
      this.#site.drop(name, broken)
      this.#stands(name, { kind: 'broken', sha256: sha256(broken) })
    } else if (choice < 0.85) {
      this.#site.drop(name, '')
      writeFileSync(path, feed.slice(0, 60 + this.#int(feed.length - 80)))
      this.#stands(name, { kind: 'cut' })
    } else if (choice < 0.93) {
      rmSync(path, { force: true })
      this.#stands(name, { kind: 'nothing' })
    } else if ((this.#left.get(name)?.kind ?? 'nothing') !== 'nothing') {
      utimesSync(path, 1, 1)
    }
  }

  #stands(name: string, left: Left): void {
    this.#left.set(name, left)
    if (left.kind === 'whole') this.#whole.set(left.sha256, left.postings)
  }

  /** Of the kill: at random, as soon as a feed is noticed or read, or in the middle of a request. */
  async #moment(): Promise<void> {
    const choice = this.#next()
    const seen = this.#site.sandbox.requests().length
    if (choice < 0.4) {
      const side = choice < 0.1 ? 'service' : 'storage'
      const isRunning = (n: number, end: number | null) => n > seen && end === null
      await this.#site.sandbox
        .waitForRequest(
          (request) => request.side === side && isRunning(request.n, request.endedAt),
          1000,
        )
        .catch(() => {})
    } else if (choice < 0.7) {
      const moving = () =>
        this.#site.uploads({ all: true, states: ['settling', 'checking', 'queued'] })
      for (let look = 0; look < 100 && moving().length === 0; look++) await systemClock.sleep(5)
    }
    await systemClock.sleep(this.#int(choice > 0.7 ? 400 : 20))
  }

  async #kill(): Promise<void> {
    const daemon = this.#daemon
    this.#daemon = null
    if (daemon === null || daemon.exitCode !== null) return
    daemon.kill('SIGKILL')
    await finished(daemon)
  }

  /** The service is well again; a few passes later everything has its state. Answers what is wrong. */
  async #settle(): Promise<string[]> {
    this.#site.sandbox.faults.clear()
    for (let pass = 0; pass < 6; pass++) {
      await this.#site.run('run', '--once')
      const waiting = this.#site.uploads({ all: true, states: ['queued', 'failed'] })
      if (waiting.length === 0) break
      for (const { id } of waiting) await this.#site.run('retry', String(id))
    }
    return [...this.#wrongStates(), ...this.#wrongObjects()]
  }

  #wrongStates(): string[] {
    const moving = this.#site.uploads({
      all: true,
      states: ['settling', 'checking', 'queued', 'uploading', 'failed'],
    })
    const stuck = moving.map(
      ({ id, feed, state, reason }) => `${feed} ${id} is ${state}: ${reason}`,
    )
    const wrong = [...this.#left].filter(([name, left]) => !this.#isRight(name, left))
    return [
      ...stuck,
      ...wrong.map(([name, left]) => {
        const [newest] = this.#site.uploads({ feed: name })
        return `${name} should be ${JSON.stringify(left)} and is ${newest?.state} ${newest?.sha256} ${newest?.reason}`
      }),
    ]
  }

  #isRight(name: string, left: Left): boolean {
    const [newest] = this.#site.uploads({ feed: name })
    switch (left.kind) {
      case 'whole': {
        if (newest?.sha256 !== left.sha256) return false
        if (newest.state === 'uploaded') return true
        const uploaded = this.#site.uploads({ feed: name, all: true, states: ['uploaded'] })
        return newest.state === 'held' && (uploaded[0]?.postings ?? 0) >= 2 * left.postings
      }
      case 'broken':
        return newest?.state === 'rejected' && newest.sha256 === left.sha256
      case 'cut':
        return newest?.state === 'incomplete'
      case 'nothing':
        return newest?.state !== 'incomplete'
      default:
        return left satisfies never
    }
  }

  #wrongObjects(): string[] {
    const objects = this.#site.sandbox.objects()
    const versions = this.#site.uploads({ all: true })
    const stored = new Set(objects.map((object) => object.sha256))
    const partial = objects.filter((object) => !this.#whole.has(object.sha256))
    const lost = versions.filter(
      ({ state, sha256: hash }) => state === 'uploaded' && !stored.has(hash ?? ''),
    )
    const twice = [...stored].filter((hash) => {
      const same = versions.filter((version) => version.sha256 === hash)
      const unknown = same.flatMap(({ id }) =>
        this.#site.show(id).attempts.filter(({ outcome }) => outcome === 'unknown'),
      )
      const knowingly = same.filter(({ state }) => state === 'uploaded').length
      return objects.filter((object) => object.sha256 === hash).length > knowingly + unknown.length
    })
    return [
      ...partial.map(({ key }) => `${key} is no whole feed`),
      ...lost.map(({ feed, id }) => `${feed} ${id} is uploaded and not in the storage`),
      ...twice.map((hash) => `${hash} was stored more often than recorded`),
    ]
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

describe.runIf(RUNS > 0)('random feeds, faults and kills', () => {
  it(`leave nothing lost, stuck or wrong in ${RUNS} runs`, { timeout: RUNS * 60_000 }, async () => {
    const queue = [...SEEDS]
    const wrong: string[] = []
    const work = async () => {
      for (let seed = queue.shift(); seed !== undefined; seed = queue.shift()) {
        await using site = await Site.open({ upload: { concurrency: 2 } })
        const found = await new Run(seed, site).play()
        wrong.push(...found.map((problem) => `seed ${seed}: ${problem}`))
        if (seed % 20 === 0) process.stdout.write(`seed ${seed}, ${wrong.length} wrong\n`)
      }
    }
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work))

    expect(wrong).toEqual([])
  })
})
