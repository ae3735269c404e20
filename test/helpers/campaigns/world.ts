// A small world for the reconciler: one service in memory that answers as a test wants, hosts with a real
// database and a real campaigns file each, and a clock that only `pass` moves. Answers go through the real
// readers. A process dies where a call throws `Killed`.

import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { keepPass } from '../../../src/app/reconcile.ts'
import { Decider } from '../../../src/campaigns/decide.ts'
import { readDesired } from '../../../src/campaigns/desired.ts'
import * as direct from '../../../src/campaigns/direct.ts'
import { Pass, type PassOptions, type PassResult } from '../../../src/campaigns/pass.ts'
import type { Plan } from '../../../src/campaigns/plan.ts'
import type { CampaignStore, FeedSide } from '../../../src/campaigns/port.ts'
import type { PersonParts } from '../../../src/campaigns/send.ts'
import { openCampaignStore } from '../../../src/history/campaign-store.ts'
import type { CreateMark } from '../../../src/history/create-mark.ts'
import { type Clock, MINUTE, systemClock } from '../../../src/lib/clock.ts'
import { FeedsyncError } from '../../../src/lib/errors.ts'
import type { CampaignRun } from '../../../src/ops/port.ts'
import { readCampaign, readPage } from '../../../src/service/campaign-answer.ts'
import { listCampaigns } from '../../../src/service/campaign-listing.ts'
import { readAnswer, Unreadable } from '../../../src/service/json-answer.ts'
import type { CampaignAnswer, CampaignApi, CampaignFailure } from '../../../src/service/port.ts'
import { putEmptyHistory } from '../history/empty.ts'
import { memoryFolder } from '../memory-folder.ts'
import { forever } from './account.ts'
import { Book, type BookCampaign } from './book.ts'
import { planOf } from './reconciling.ts'

export const START = Date.UTC(2026, 11, 1, 12)

export class Killed extends Error {}

export interface Call {
  kind: 'search' | 'get' | 'create' | 'update'
  id: string | null
  body: Record<string, unknown> | null
  host: Host
}

/** What a test makes of a call; null: it is answered as it should be. */
export type Trouble =
  | { kind: 'fail'; failure: CampaignFailure }
  /** Carried out, now or `afterMs` later, and not answered. */
  | { kind: 'lost'; afterMs?: number }
  /** The process dies before it is sent, or after it was carried out. */
  | { kind: 'die'; when: 'before' | 'after' }

const FAILURE = { kind: 'failure', hint: '', body: null, retryAfterMs: null } as const

export const failure = {
  temporary: (status = 503): CampaignFailure => ({
    ...{ ...FAILURE, class: 'temporary', effect: 'unknown', status, reason: `answered ${status}` },
  }),
  refused: (status = 422): CampaignFailure => ({
    ...{ ...FAILURE, class: 'refused', effect: 'refused', status, reason: `answered ${status}` },
  }),
  credentials: (status = 403): CampaignFailure => ({
    ...{
      ...FAILURE,
      class: 'credentials',
      effect: 'refused',
      status,
      reason: `answered ${status}`,
    },
  }),
  missing: (): CampaignFailure => ({
    ...{ ...FAILURE, class: 'missing', effect: 'refused', status: 404, reason: 'answered 404' },
  }),
}

/** What the daemon reads in a success with this JSON. */
function readingOf<T>(json: unknown, read: (body: Buffer) => T): CampaignAnswer<T> {
  const body = Buffer.from(JSON.stringify(json))
  const value = readAnswer({ body, bodyCut: false }, read)
  if (!(value instanceof Unreadable)) return { kind: 'ok', value }
  return { ...failure.temporary(200), class: 'unreadable', reason: value.message }
}

export class World {
  now = START
  readonly clock: Clock = {
    ...systemClock,
    now: () => this.now,
    monotonic: () => this.now,
    sleep: async () => {},
  }
  readonly book = new Book(() => this.now)
  readonly calls: Call[] = []
  /** Asked before each call. */
  trouble: (call: Call) => Trouble | null = () => null
  /** What an answer shows of a campaign, by where it is shown. */
  shape: (
    shown: Record<string, unknown>,
    where: 'listed' | 'read' | 'written',
  ) => Record<string, unknown> | null = (shown) => shown
  /** What is listed, where that is not what is there. */
  listed: ((all: BookCampaign[]) => BookCampaign[]) | null = null
  readonly #late: { at: number; run: () => void }[] = []
  readonly directory = memoryFolder('feedsyncd-world-')
  #databases = 0

  static open(): World {
    const world = new World()
    onTestFinished(() => world.close())
    return world
  }

  close(): void {
    rmSync(this.directory, { recursive: true, force: true })
  }

  host(file = '', account = '123'): Host {
    return new Host(this, file, account)
  }

  /** An empty database. */
  database(): string {
    const file = join(this.directory, `${++this.#databases}.db`)
    putEmptyHistory(file)
    return file
  }

  get all(): BookCampaign[] {
    return this.book.all
  }

  campaign(id: string): BookCampaign {
    const found = this.all.find((one) => one.id === id)
    if (found === undefined) throw new Error(`there is no campaign ${id}`)
    return found
  }

  /** Somebody makes a campaign on the service. */
  make(name: string, fields: Record<string, unknown> = {}, account = '123'): BookCampaign {
    return this.book.create(account, { name, budget: 50, ...fields })
  }

  pass(ms: number): void {
    this.now += ms
    for (const one of this.#late.splice(0)) {
      if (one.at <= this.now) one.run()
      else this.#late.push(one)
    }
  }

  /** A write that was not answered has still to arrive. */
  get hasLateWrites(): boolean {
    return this.#late.length > 0
  }

  writes(): Call[] {
    return this.calls.filter(({ kind }) => kind === 'create' || kind === 'update')
  }

  api(host: Host): CampaignApi {
    const { book } = this
    const find = (id: string | null) => book.find(host.remote, id ?? '')
    const shown = (
      one: BookCampaign,
      where: 'read' | 'written',
      asked: string | null,
    ): CampaignAnswer<never> => {
      const json = this.shape(book.shown(one), where)
      return readingOf(json, (body) => readCampaign(body, asked) as never)
    }
    const done = async <T>(
      call: Omit<Call, 'host'>,
      carryOut: () => BookCampaign | null,
      answer: (one: BookCampaign) => CampaignAnswer<T>,
    ): Promise<CampaignAnswer<T>> => {
      const whole = { ...call, host }
      this.calls.push(whole)
      const trouble = this.trouble(whole)
      if (trouble?.kind === 'fail') return trouble.failure
      if (trouble?.kind === 'die' && trouble.when === 'before') throw new Killed()
      if (trouble?.kind === 'lost' && trouble.afterMs !== undefined) {
        this.#late.push({ at: this.now + trouble.afterMs, run: carryOut })
        return failure.temporary()
      }
      const one = carryOut()
      if (trouble?.kind === 'die') throw new Killed()
      if (trouble?.kind === 'lost') return failure.temporary()
      return one === null ? failure.missing() : answer(one)
    }
    const copy = (body: object) => JSON.parse(JSON.stringify(body)) as Record<string, unknown>
    return {
      search: async (query) => {
        const call = { kind: 'search', id: null, body: null } as const
        return done(
          call,
          () => ({}) as BookCampaign,
          () => {
            const rows = this.listed?.([...book.all]) ?? book.all
            const { page, envelope } = book.search(host.remote, rows, query)
            const items = page.flatMap((row) => this.shape(book.shown(row), 'listed') ?? [])
            return readingOf({ ...envelope, items }, (body) => readPage(body, null))
          },
        )
      },
      get: (id) =>
        done(
          { kind: 'get', id, body: null },
          () => find(id),
          (one) => shown(one, 'read', id),
        ),
      update: (id, body) => {
        const sent = copy(body)
        const carryOut = () => {
          const one = find(id)
          if (one !== null) book.update(one, sent)
          return one
        }
        return done({ kind: 'update', id, body: sent }, carryOut, (one) =>
          shown(one, 'written', id),
        )
      },
      create: (body) => {
        const sent = copy(body)
        return done(
          { kind: 'create', id: null, body: sent },
          () => book.create(host.remote, sent),
          (one) => shown(one, 'written', null),
        )
      },
    }
  }
}

let marks = 0

/** One installation. */
export class Host {
  readonly world: World
  file: string
  database: string
  /** The account of the configuration. */
  account: string
  address = 'https://service.example'
  /** Before each write that raises, at the file. */
  looksAgain = true
  /** What a test puts before its store. */
  wrap: (store: CampaignStore) => CampaignStore = (store) => store
  feeds: () => FeedSide = () => NO_FEEDS
  /** The file beside its database. */
  mark: ReturnType<CreateMark['seen']> = null
  #store: CampaignStore | null = null

  constructor(world: World, file: string, account: string) {
    this.world = world
    this.file = file
    this.account = account
    this.database = world.database()
  }

  /** The account that the service takes it for. */
  get remote(): string {
    return this.account
  }

  get store(): CampaignStore {
    const seen = () => this.mark
    const renew = () => {
      this.mark = { text: `mark ${++marks}`, at: this.world.now }
    }
    this.#store ??= openCampaignStore({ file: this.database, mark: { seen, renew } })
    return this.#store
  }

  /** As when the state directory was copied to another place, or the host started again. */
  changeMark(): void {
    if (this.mark !== null) this.mark = { text: `${this.mark.text} again`, at: this.world.now }
  }

  /** The process ends; what is on disk stays. */
  restart(): void {
    this.#store?.[Symbol.dispose]()
    this.#store = null
  }

  /** Its state directory is lost. */
  lose(): void {
    this.loseDatabase()
    this.mark = null
  }

  loseDatabase(): void {
    this.restart()
    this.database = this.world.database()
  }

  /** A copy of its database, to come back to. */
  backup(): string {
    this.restart()
    const copy = this.world.database()
    copyFileSync(this.database, copy)
    return copy
  }

  parts() {
    const { world } = this
    const store = this.wrap(this.store)
    const api = world.api(this)
    const list = (signal: AbortSignal) => listCampaigns(api, world.clock, signal)
    const who = { account: `${this.address} ${this.account}`, identity: this.account }
    return { api, list, store, clock: world.clock, feeds: () => this.feeds(), ...who }
  }

  async look(
    kind: PassOptions['kind'],
    {
      allowWiden = [],
      approved = null,
      ...options
    }: Partial<PassOptions> & { allowWiden?: string[] } = {},
  ): Promise<PassResult> {
    const { file } = this
    const reading = readDesired(file)
    if (reading.kind === 'problems') throw new Error(JSON.stringify(reading.problems))
    const wanted = {
      ...{ desired: reading.desired, fileSha256: file },
      allowWiden: new Set([...allowWiden, ...(approved?.allowWiden ?? [])]),
      isCurrent: () => !this.looksAgain || this.file === file,
    }
    const rest = { isPerson: true, by: 'person: test', signal: forever, stop: forever, ...options }
    try {
      return await new Pass(this.parts(), wanted, { kind, approved, ...rest }).run()
    } catch (error) {
      this.restart()
      throw error
    }
  }

  async plan(allowWiden: string[] = []): Promise<Plan> {
    return planOf(await this.look('plan', { allowWiden }))
  }

  async apply(options: { approved?: Plan; allowWiden?: string[] } = {}) {
    return (await this.look('apply', options)).results
  }

  async daemon(): Promise<PassResult> {
    return this.look('apply', { isPerson: false, by: 'daemon: test' })
  }

  /** The daemon looks; answers what is kept for status, alerts and monitoring. */
  async run(mode: 'report' | 'apply' = 'apply'): Promise<CampaignRun> {
    const looked = await this.look(mode, { isPerson: false, by: 'daemon: test' })
    const at = new Date(this.world.now).toISOString()
    return keepPass(this.store, { at, cause: 'test', mode }, looked)
  }

  /** What a person says; a refusal is a value here. */
  decide() {
    const now = <R extends object>(word: (decider: Decider) => R) => {
      try {
        return { kind: 'done', ...word(new Decider(this.person())) } as const
      } catch (error) {
        return refusalOf(error)
      }
    }
    const soon = <R extends object>(word: (decider: Decider) => Promise<R>) =>
      said(() => word(new Decider(this.person())))
    return {
      adopt: (key: string, id: string) => soon((one) => one.adopt(key, id)),
      isNew: (key: string) => soon((one) => one.isNew(key)),
      settle: (key: string, how: 'revert' | 'accept') => soon((one) => one.settle(key, how)),
      marked: () => soon(async (one) => ({ pairs: await one.marked() })),
      adoptAll: (pairs: Parameters<Decider['adoptAll']>[0]) =>
        new Decider(this.person()).adoptAll(pairs),
      forget: (keyOrId: string) => now((one) => one.forget(keyOrId)),
      checked: (key: string) => now((one) => one.checked(key)),
    }
  }

  /** One that is not settled comes before newer ones. */
  newestCreate(key: string) {
    return this.store.creates().findLast((one) => one.key === key) ?? null
  }

  /** What a person's word or direct call works with. */
  person(): PersonParts {
    const reading = readDesired(this.file)
    if (reading.kind === 'problems') throw new Error(JSON.stringify(reading.problems))
    const { desired } = reading
    return { ...this.parts(), desired, by: 'person: test', signal: forever }
  }
}

/** What a person's word or direct call answers, or why it is refused. */
async function said<R extends object>(work: () => Promise<R>) {
  try {
    return { kind: 'done', ...(await work()) } as const
  } catch (error) {
    return refusalOf(error)
  }
}

function refusalOf(error: unknown) {
  if (!(error instanceof FeedsyncError)) throw error
  const { message: reason, hint, exitCode } = error
  return { kind: 'refused', reason, hint, isEarly: exitCode === 75 } as const
}

export const createDirectly = (...given: Parameters<typeof direct.createDirectly>) =>
  said(() => direct.createDirectly(...given))

export const updateDirectly = (...given: Parameters<typeof direct.updateDirectly>) =>
  said(() => direct.updateDirectly(...given))

/** A service, and an installation with this file. */
export function opened(file: string) {
  const world = World.open()
  return { world, host: world.host(file) }
}

/** The same, a minute after its campaigns were made. */
export async function installed(file: string) {
  const { world, host } = opened(file)
  await host.apply()
  world.pass(MINUTE)
  return { world, host }
}

export const NO_FEEDS: FeedSide = {
  latest: [],
  absence: () => null,
  read: () => Promise.reject(new Error('no feed was uploaded')),
}

/** Several troubles, each for the calls that it names, as often as it says. */
export function troubles(
  ...rules: { on: Call['kind']; id?: string; times?: number; trouble: Trouble }[]
) {
  const left = rules.map(({ times = Number.POSITIVE_INFINITY }) => times)
  return ({ kind, id }: Call): Trouble | null => {
    for (const [n, rule] of rules.entries()) {
      if (rule.on !== kind || (rule.id !== undefined && rule.id !== id)) continue
      const times = left[n] ?? 0
      if (times <= 0) continue
      left[n] = times - 1
      return rule.trouble
    }
    return null
  }
}
