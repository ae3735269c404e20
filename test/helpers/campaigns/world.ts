// A service in memory whose answers a test controls, and an installation of feedsyncd that manages its campaigns. The
// installation has a real database, a real state mark, and the text of a campaigns file. A test can kill its process at
// any step.

import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Applied, apply } from '../../../src/campaigns/apply.ts'
import type { ManagedFile } from '../../../src/campaigns/campaigns-file.ts'
import { type Entry, readDesired } from '../../../src/campaigns/desired.ts'
import { forget } from '../../../src/campaigns/forget-entry.ts'
import { type LookResult, look, type Plan, type PlanSources } from '../../../src/campaigns/plan.ts'
import type { CampaignStore, FeedSide } from '../../../src/campaigns/port.ts'
import { Recorder } from '../../../src/campaigns/recorder.ts'
import { readCampaign, readPage } from '../../../src/campaigns/service/campaign-answer.ts'
import { listCampaigns } from '../../../src/campaigns/service/campaign-listing.ts'
import type {
  CampaignAnswer,
  CampaignApi,
  CampaignFailure,
} from '../../../src/campaigns/service/port.ts'
import { openCampaignStore } from '../../../src/campaigns/store.ts'
import { type SyncTools, sync } from '../../../src/campaigns/sync.ts'
import type { TargetedPosting } from '../../../src/campaigns/targeting.ts'
import type { WriteResult } from '../../../src/campaigns/write.ts'
import { type Clock, MINUTE, systemClock } from '../../../src/lib/clock.ts'
import { readAnswer, Unusable } from '../../../src/service/json-answer.ts'
import { putEmptyHistory } from '../history/empty.ts'
import { memoryFolder } from '../memory-folder.ts'
import { forever } from './account.ts'
import { Book, type BookCampaign, type Fields } from './book.ts'

export const START = Date.UTC(2026, 11, 1, 12)
export const IDENTITY = '123'

/** Killed is thrown in a process that was killed. */
export class Killed extends Error {}

export interface Call {
  kind: 'search' | 'get' | 'create' | 'update'
  id: string | null
  body: Fields | null
  /** The campaign as the answer shows it. */
  shown?: Fields
}

/** Trouble is what goes wrong with a call. */
export type Trouble =
  | { kind: 'fail'; failure: CampaignFailure }
  /** The service carries the call out, now or `afterMs` later, but does not answer. */
  | { kind: 'lost'; afterMs?: number }
  /** The service answers with success, but does not carry the call out. */
  | { kind: 'ignored' }
  /** The process dies before it sends the call, or after the service carried it out. */
  | { kind: 'die'; when: 'before' | 'after' }

function failed(
  kind: CampaignFailure['class'],
  effect: CampaignFailure['effect'],
  status: number | null,
): CampaignFailure {
  const reason = status === null ? 'no answer' : `answered ${status}`
  return {
    ...{ kind: 'failure', class: kind, effect, status, reason },
    ...{ hint: '', body: null, retryAfterMs: null },
  }
}

export const failure = {
  temporary: (status: number | null = 503) => failed('temporary', 'unknown', status),
  /** unreached returns the failure of a connection that could not be opened. */
  unreached: () => failed('temporary', 'not-sent', null),
  refused: (status = 422) => failed('refused', 'refused', status),
  credentials: () => failed('credentials', 'refused', 403),
  missing: () => failed('missing', 'refused', 404),
}

/** readingOf returns the answer that the client reads from this JSON. */
function readingOf<T>(json: unknown, read: (body: Buffer) => T): CampaignAnswer<T> {
  const body = Buffer.from(JSON.stringify(json))
  const value = readAnswer({ body, bodyCut: false }, read)
  if (!(value instanceof Unusable)) return { kind: 'ok', value }
  return { ...failure.temporary(200), class: 'unreadable', reason: value.message }
}

export class World {
  now = START
  readonly clock: Clock = {
    ...systemClock,
    now: () => this.now,
    monotonic: () => this.now,
    sleep: async (ms) => this.pass(ms),
  }
  readonly book = new Book(() => this.now)
  readonly calls: Call[] = []
  /** trouble returns what goes wrong with a call; null means nothing. It is called before each call. */
  trouble: (call: Call) => Trouble | null = () => null
  /** shape changes how listings, reads and answers to writes show a campaign. */
  shape: (shown: Fields, where: 'listed' | 'read' | 'written') => Fields = (shown) => shown
  /** listed returns the campaigns that a listing shows; if it is null, a listing shows all. */
  listed: ((all: BookCampaign[]) => BookCampaign[]) | null = null
  /** onCreated is called when a request creates a campaign. */
  onCreated: (one: BookCampaign) => void = () => {}
  readonly #late: { at: number; run: () => void }[] = []
  readonly directory = memoryFolder('feedsyncd-world-')

  static open(): World {
    const world = new World()
    onTestFinished(() => world.close())
    return world
  }

  close(): void {
    rmSync(this.directory, { recursive: true, force: true })
  }

  get all(): BookCampaign[] {
    return this.book.all
  }

  campaign(id: string): BookCampaign {
    const found = this.all.find((one) => one.id === id)
    if (found === undefined) throw new Error(`there is no campaign ${id}`)
    return found
  }

  /** make creates a campaign as a person does on the service. */
  make(name: string, fields: Fields = {}): BookCampaign {
    return this.book.create(IDENTITY, { name, budget: 50, ...fields })
  }

  /** pass moves the time forward, and lets the late writes arrive whose time has come. */
  pass(ms: number): void {
    this.now += ms
    for (const one of this.#late.splice(0)) {
      if (one.at <= this.now) one.run()
      else this.#late.push(one)
    }
  }

  /** hasLateWrites is true while a write that got no answer still has to arrive. */
  get hasLateWrites(): boolean {
    return this.#late.length > 0
  }

  writes(): Call[] {
    return this.calls.filter(({ kind }) => kind === 'create' || kind === 'update')
  }

  /** #shown answers a call with a campaign as the service shows it, and notes in the call what was shown. */
  #shown(call: Call, one: BookCampaign | null, where: 'read' | 'written') {
    if (one === null) return failure.missing()
    const json = this.shape(this.book.shown(one), where)
    call.shown = json
    return readingOf(json, (body) => readCampaign(body, call.id))
  }

  api(): CampaignApi {
    const { book } = this
    const find = (id: string) => book.find(IDENTITY, id)
    const done = <T>(call: Call, carryOut: () => void, answer: () => CampaignAnswer<T>) => {
      this.calls.push(call)
      const trouble = this.trouble(call)
      if (trouble?.kind === 'fail') return trouble.failure
      if (trouble?.kind === 'die' && trouble.when === 'before') throw new Killed()
      if (trouble?.kind === 'lost' && trouble.afterMs !== undefined)
        this.#late.push({ at: this.now + trouble.afterMs, run: carryOut })
      else if (trouble?.kind !== 'ignored') carryOut()
      if (trouble?.kind === 'die') throw new Killed()
      return trouble?.kind === 'lost' ? failure.temporary(null) : answer()
    }
    const sent = (body: object) => JSON.parse(JSON.stringify(body)) as Fields
    return {
      clockSkewMs: () => null,
      search: async (query) => {
        const page = () => {
          const rows = this.listed?.([...book.all]) ?? book.all
          const { page, envelope } = book.search(IDENTITY, rows, query)
          const items = page.map((row) => this.shape(book.shown(row), 'listed'))
          return readingOf({ ...envelope, items }, (body) => readPage(body))
        }
        return done({ kind: 'search', id: null, body: null }, () => {}, page)
      },
      get: async (id) => {
        const call: Call = { kind: 'get', id, body: null }
        const answer = () => this.#shown(call, find(id), 'read')
        return done(call, () => {}, answer)
      },
      update: async (id, given) => {
        const body = sent(given)
        const call: Call = { kind: 'update', id, body }
        const carryOut = () => {
          const one = find(id)
          if (one !== null) book.update(one, body)
        }
        return done(call, carryOut, () => this.#shown(call, find(id), 'written'))
      },
      create: async (given) => {
        const body = sent(given)
        const call: Call = { kind: 'create', id: null, body }
        let made: BookCampaign | null = null
        const carryOut = () => {
          made = book.create(IDENTITY, body)
          this.onCreated(made)
        }
        return done(call, carryOut, () => this.#shown(call, made, 'written'))
      },
    }
  }
}

/** Backup is a copy of a state directory. */
export interface Backup {
  database: string
  mark: string | null
}

let databases = 0

/** Process is what a running feedsyncd works with. */
export interface Process extends PlanSources {
  api: CampaignApi
  store: CampaignStore
  isCurrent: () => boolean
}

/** Host is one installation of feedsyncd. */
export class Host {
  readonly world: World
  file: string
  mode: 'targeting' | 'report' = 'targeting'
  database: string
  feeds: () => FeedSide = () => NO_FEEDS
  /** The wrap functions let a test change the store, and the input of the daemon. */
  wrap: (store: CampaignStore) => CampaignStore = (store) => store
  wrapSync: (tools: SyncTools) => SyncTools = (tools) => tools
  wrapProcess: (process: Process) => Process = (process) => process
  wrapEntries: (entries: Entry[]) => Entry[] = (entries) => entries
  /** onChecked is called whenever a process checks that the file is unchanged, which is before each write. */
  onChecked: () => void = () => {}
  /**
   * The next process dies after this many steps: reads and writes of its database, and calls of the service. If it is
   * null, the process does not die.
   */
  diesAfter: number | null = null
  #store: CampaignStore | null = null
  #read: { file: string | null; entries: Entry[] } = { file: null, entries: [] }

  constructor(world: World, file: string) {
    this.world = world
    this.file = file
    this.database = join(world.directory, 'state', 'feedsyncd.db')
    putEmptyHistory(this.database)
  }

  /** The database on disk, opened by the test. */
  get store(): CampaignStore {
    const account = `https://service.example ${IDENTITY}`
    const { now } = this.world.clock
    this.#store ??= openCampaignStore({ file: this.database, account, now })
    return this.#store
  }

  /** restart ends the process. The files on disk stay. */
  restart(): void {
    this.#store?.[Symbol.dispose]()
    this.#store = null
  }

  get #mark(): string {
    return `${this.database}.mark`
  }

  /** lose deletes the database, alone or with the whole state directory. */
  lose(what: 'database' | 'directory'): void {
    this.restart()
    for (const end of ['', '-wal', '-shm']) rmSync(this.database + end, { force: true })
    if (what === 'directory') rmSync(this.#mark, { force: true })
    putEmptyHistory(this.database)
  }

  /** backup copies the state directory, for a later `restore`. */
  backup(): Backup {
    this.restart()
    const database = join(this.world.directory, `${++databases}.db`)
    copyFileSync(this.database, database)
    const mark = existsSync(this.#mark) ? `${database}.mark` : null
    if (mark !== null) copyFileSync(this.#mark, mark)
    return { database, mark }
  }

  restore(backup: Backup, what: 'database' | 'directory'): void {
    this.restart()
    for (const end of ['-wal', '-shm']) rmSync(this.database + end, { force: true })
    rmSync(this.database)
    copyFileSync(backup.database, this.database)
    if (what === 'database') return
    rmSync(this.#mark, { force: true })
    if (backup.mark !== null) copyFileSync(backup.mark, this.#mark)
  }

  entries(): Entry[] {
    if (this.#read.file !== this.file) {
      const reading = readDesired(this.file)
      if (reading.kind === 'problems') throw new Error(JSON.stringify(reading.problems))
      this.#read = { file: this.file, entries: reading.entries }
    }
    return this.#read.entries
  }

  /** managed returns the file as the daemon sees it. */
  managed(): ManagedFile {
    const { file } = this
    const fileSha256 = createHash('sha256').update(file).digest('hex')
    return { entries: this.entries(), fileSha256, isEnded: file.endsWith('\n') }
  }

  /** #process returns a process, whose steps fail after it was killed. */
  #process(diesAfter: number | null = null): Process {
    const { world, file } = this
    const api = world.api()
    const isCurrent = () => {
      this.onChecked()
      return this.file === file
    }
    const life = new Life(diesAfter)
    const mortalApi = life.mortal(api)
    const { get, search } = mortalApi
    const { clock } = world
    return this.wrapProcess({
      service: { get, list: (signal) => listCampaigns({ search, clock }, signal) },
      ...{ api: mortalApi, store: life.mortal(this.wrap(this.store)) },
      ...{ clock, feeds: () => this.feeds(), isCurrent },
      account: { name: `https://service.example ${IDENTITY}`, identity: IDENTITY },
      keepsTargeting: this.mode === 'targeting',
    })
  }

  /** #run runs a process that writes, which dies after `diesAfter` steps. When it dies, only the files on disk stay. */
  async #run<T>(work: (process: Process) => Promise<T>): Promise<T> {
    const { diesAfter } = this
    this.diesAfter = null
    try {
      return await work(this.#process(diesAfter))
    } catch (error) {
      this.restart()
      throw error
    }
  }

  /** look looks as `plan` does. */
  async look(keys: readonly string[] | null = null): Promise<LookResult> {
    const named = keys === null ? null : new Set(keys)
    const found = await look(this.#process(), { file: this.managed(), keys: named }, forever)
    if ('class' in found) throw new Error(found.reason)
    return found
  }

  async plan(...keys: string[]): Promise<Plan> {
    return (await this.look(keys.length === 0 ? null : keys)).plan
  }

  /** send applies the plan with this digest; null means `--lower`. */
  async send(digest: string | null, keys: readonly string[] | null = null): Promise<Applied> {
    const named = keys === null ? null : new Set(keys)
    const file = this.managed()
    const by = digest === null ? 'person: apply --lower' : `person: apply --plan ${digest}`
    return await this.#run(({ api, store, isCurrent, ...sources }) => {
      const recorder = new Recorder({ store, clock: sources.clock, actor: 'person', by })
      const tools = { sources: { ...sources, store }, api, store, recorder, isCurrent }
      return apply({ file, keys: named, digest }, tools, forever)
    })
  }

  /** apply confirms and sends the current plan, as a person does. */
  async apply(...keys: string[]): Promise<WriteResult[]> {
    const { digest } = await this.plan(...keys)
    return resultsOf(await this.send(digest, keys.length === 0 ? null : keys))
  }

  async lower(...keys: string[]): Promise<WriteResult[]> {
    return resultsOf(await this.send(null, keys.length === 0 ? null : keys))
  }

  /** daemon sends targeting, as the daemon does. */
  async daemon(): Promise<WriteResult[]> {
    const file = { ...this.managed(), entries: this.wrapEntries(this.entries()) }
    return await this.#run(({ api: { get, update }, account, clock, store, isCurrent }) => {
      const putTargeting: SyncTools['api']['putTargeting'] = (id, targeting, signal) =>
        update(id, { targeting }, signal)
      const recorder = new Recorder({ store, clock, actor: 'daemon', by: 'daemon: file' })
      const { identity } = account
      const api = { get, putTargeting }
      const tools = this.wrapSync({ api, store, clock, recorder, identity, isCurrent })
      return sync(file, tools, { stop: forever, abort: forever })
    })
  }

  forget(key: string): void {
    forget(this.wrap(this.store), { key, at: this.world.now, by: 'person: forget' })
  }
}

function resultsOf(applied: Applied): WriteResult[] {
  if (applied.kind === 'failure') throw new Error(applied.reason)
  if (applied.kind === 'stale') throw new Error('the plan has changed')
  return applied.results
}

/** Life counts the steps of a process and kills it between two of them. A dead process takes no further step. */
class Life {
  #left: number
  #isDead = false

  constructor(steps: number | null) {
    this.#left = steps ?? Number.POSITIVE_INFINITY
  }

  #step(): void {
    if (--this.#left < 0) this.#isDead = true
    if (this.#isDead) throw new Killed()
  }

  mortal<T extends object>(parts: T): T {
    const mortal = (work: (...given: unknown[]) => unknown) => {
      const ended = <R>(result: R): R => {
        this.#step()
        return result
      }
      return (...given: unknown[]) => {
        this.#step()
        try {
          const result = work(...given)
          return result instanceof Promise ? result.then(ended) : ended(result)
        } catch (error) {
          this.#isDead ||= error instanceof Killed
          throw error
        }
      }
    }
    const all = Object.entries(parts).map(([name, work]) => [name, mortal(work)])
    return { ...parts, ...Object.fromEntries(all) }
  }
}

/** opened opens a service, and an installation with this file, until the end of the test. */
export function opened(file: string) {
  const world = World.open()
  const host = new Host(world, file)
  onTestFinished(() => host.restart())
  return { world, host }
}

/** installed opens a service and an installation with this file, applies the file, and lets a minute pass. */
export async function installed(file: string) {
  const { world, host } = opened(file)
  await host.apply()
  world.pass(MINUTE)
  return { world, host }
}

export const NO_FEEDS: FeedSide = {
  latest: [],
  isAtMost: false,
  missingSince: () => null,
  read: () => Promise.reject(new Error('no feed was uploaded')),
}

/**
 * feedsOf returns one feed whose last upload has these postings. `missing` has, by id, since when a feed lacks the id;
 * `problem` is why the feed cannot be read, or null.
 */
export function feedsOf(
  postings: readonly Partial<TargetedPosting>[],
  {
    missing = {},
    problem = null,
  }: { missing?: Record<string, number>; problem?: string | null } = {},
): () => FeedSide {
  const ids: [string, number][] = []
  for (const [id, all] of Map.groupBy(postings, (one) => one.externalCampaignId ?? ''))
    if (id !== '') ids.push([id, all.length])
  const upload = {
    ...{
      feed: 'jobs.xml',
      path: 'jobs.xml',
      version: 1,
      uploadedAt: START,
      encoding: null,
      records: null,
    },
    ...{ spool: '1.xml', postings: postings.length, ids: Object.fromEntries(ids) },
  }
  return () => ({
    latest: [upload],
    isAtMost: false,
    missingSince: (id) => missing[id] ?? null,
    read: async ({ take }) => {
      for (const posting of postings) take(posting)
      return problem === null ? [] : [problem]
    },
  })
}

/** troubles returns a `trouble` function. Each rule applies to the first `times` calls that it names, or to all. */
export function troubles(
  ...rules: { on: Call['kind']; id?: string; times?: number; trouble: Trouble }[]
) {
  const left = rules.map(({ times = Number.POSITIVE_INFINITY }) => times)
  return ({ kind, id }: Call): Trouble | null => {
    const n = rules.findIndex(
      (rule, i) =>
        rule.on === kind && (rule.id === undefined || rule.id === id) && (left[i] ?? 0) > 0,
    )
    if (n === -1) return null
    left[n] = (left[n] ?? 0) - 1
    return rules[n]?.trouble ?? null
  }
}
