// A vendor's campaigns file against an account of the sandbox, with a database of its own. Each run of the
// loop starts from what is on disk; `account.pass` moves the clock of both sides on.

import { createHash } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { feedSideOf } from '../../../src/app/campaigns.ts'
import { keepPass } from '../../../src/app/reconcile.ts'
import { readDesired } from '../../../src/campaigns/desired.ts'
import { Pass, type PassOptions, type PassResult } from '../../../src/campaigns/pass.ts'
import type { Finding, Plan, PlanItem } from '../../../src/campaigns/plan.ts'
import type { CampaignStore, FeedSide } from '../../../src/campaigns/port.ts'
import type { Result } from '../../../src/campaigns/send.ts'
import { openCampaignStore } from '../../../src/history/campaign-store.ts'
import { openHistory } from '../../../src/history/sqlite-history.ts'
import { HOUR } from '../../../src/lib/clock.ts'
import type { CampaignRun } from '../../../src/ops/port.ts'
import type { CampaignKnobs } from '../../../src/sandbox/campaign-book.ts'
import { listCampaigns } from '../../../src/service/campaign-listing.ts'
import type { CampaignApi } from '../../../src/service/port.ts'
import { putEmptyHistory } from '../history/empty.ts'
import { memoryFolder } from '../memory-folder.ts'
import { type Account, forever, openAccount } from './account.ts'

export const NOW = Date.UTC(2026, 11, 1, 12)
const ACCOUNT = 'https://service.example 123'
export const IDENTITY = '123'

type ApplyOptions = { allowWiden?: string[]; approved?: Plan }

export class Vendor {
  readonly account: Account
  file: string
  database = join(memoryFolder('feedsyncd-reconcile-'), 'feedsyncd.db')
  configured = ACCOUNT
  identity = IDENTITY
  /** What the reconciler calls; a test puts a service of its own there. */
  api: CampaignApi

  constructor(account: Account, file: string) {
    this.account = account
    this.file = file
    this.api = account.api
  }

  static async open(file: string, knobs: Partial<CampaignKnobs> = {}): Promise<Vendor> {
    const vendor = new Vendor(await openAccount(knobs, { now: NOW }), file)
    putEmptyHistory(vendor.database)
    onTestFinished(() => rmSync(join(vendor.database, '..'), { recursive: true }))
    return vendor
  }

  get campaigns() {
    return this.account.sandbox.campaigns
  }

  campaign(id: string) {
    const found = this.campaigns.all.find((one) => one.id === id)
    if (found === undefined) throw new Error(`there is no campaign ${id}`)
    return found
  }

  store(): CampaignStore {
    return openCampaignStore({ file: this.database })
  }

  async plan(allowWiden: string[] = []): Promise<Plan> {
    return planOf(await this.look('plan', { allowWiden }))
  }

  /** A person's apply: of what is due, or of an approved plan. */
  async apply(options: ApplyOptions = {}): Promise<Result[]> {
    return (await this.look('apply', options)).results
  }

  /** A look of the daemon in mode `apply`. */
  async daemon(): Promise<PassResult> {
    return this.look('apply', { isPerson: false, by: 'daemon: test' })
  }

  /** The daemon looks, and what is kept of it for `status`, alerts and monitoring is answered. */
  async run(mode: 'report' | 'apply' = 'apply'): Promise<CampaignRun> {
    const looked = await this.look(mode, { isPerson: false, by: 'daemon: test' })
    using store = this.store()
    const at = new Date(this.account.clock.now()).toISOString()
    return keepPass(store, { at, cause: 'test', mode }, looked)
  }

  async look(
    kind: PassOptions['kind'],
    {
      allowWiden = [],
      approved,
      ...options
    }: ApplyOptions & Partial<Omit<PassOptions, 'approved'>> = {},
  ): Promise<PassResult> {
    const reading = readDesired(this.file)
    if (reading.kind === 'problems') throw new Error(JSON.stringify(reading.problems))
    using store = this.store()
    const { clock } = this.account
    const list = (signal: AbortSignal) => listCampaigns(this.api, clock, signal)
    const who = { account: this.configured, identity: this.identity }
    const parts = { api: this.api, list, feeds: () => this.feeds(), clock, store, ...who }
    const file = this.file
    const wanted = {
      desired: reading.desired,
      fileSha256: createHash('sha256').update(file).digest('hex'),
      allowWiden: new Set([...allowWiden, ...(approved?.allowWiden ?? [])]),
      isCurrent: () => this.file === file,
    }
    const rest = { isPerson: true, by: 'test', signal: forever, stop: forever, ...options }
    return await new Pass(parts, wanted, { kind, approved: approved ?? null, ...rest }).run()
  }

  /** A feed of these postings was uploaded, as the history tells it: `id` alone, or more elements. */
  upload(postings: readonly string[], feed = 'jobs.xml'): void {
    const { now } = this.account.clock
    using history = openHistory({ file: this.database, clock: this.account.clock })
    const jobs = postings.map((posting, n) => {
      const elements = posting.includes('<') ? posting : `<campaignid>${posting}</campaignid>`
      return `<job><id>${n}</id>${elements}</job>`
    })
    const version = history.add({
      ...{ feed, path: feed, account: null, state: 'queued', reason: null, at: now() },
    })
    const spool = `${version.id}.xml`
    const directory = join(this.database, '..', 'spool')
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, spool), `<source>${jobs.join('')}</source>`)
    const ids: Record<string, number> = {}
    for (const id of jobs.flatMap((job) => /<campaignid>(.*?)</.exec(job)?.[1] ?? []))
      ids[id] = (ids[id] ?? 0) + 1
    history.move(version.id, 'uploading', null, now())
    history.move(version.id, 'uploaded', null, now(), {
      ...{ spool, records: '/source/job', postings: jobs.length, externalCampaignIds: ids },
      ...{ sha256: String(version.id), uploadedAt: now() },
    })
  }

  /** The bytes of all uploads go, and the history still names them. */
  loseSpool(): void {
    rmSync(join(this.database, '..', 'spool'), { recursive: true })
  }

  feeds(): FeedSide {
    const directory = join(this.database, '..')
    const config = { service: { identity: { account: '1' } }, state: { directory }, feeds: [] }
    return feedSideOf(config as unknown as Parameters<typeof feedSideOf>[0])
  }

  /** Calls of the service that change something, so far. */
  writes(): number {
    return this.account.calls('campaign-create') + this.account.calls('campaign-update')
  }

  /** An hour later, so that delays of a minute are over. */
  hourLater(): void {
    this.account.pass(HOUR)
  }
}

export function planOf(looked: PassResult): Plan {
  if (looked.kind === 'failure') throw new Error(looked.reason)
  return looked.plan
}

/** An entry that may be created: with a filter unless `fields` has one of its own. */
export const entry = (key: string, fields = '') => {
  const filter = /targeting:|allPostings:/.test(fields) ? '' : 'allPostings: true\n'
  return `  - externalCampaignId: ${key}\n    name: Campaign ${key}\n    budget: "100.00"\n${(
    filter + fields
  )
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `    ${line}\n`)
    .join('')}`
}

export const fileOf = (...entries: string[]) => `version: 1\ncampaigns:\n${entries.join('')}`

export const itemOf = (plan: Plan, key: string, code?: string) =>
  plan.items.find(
    (item: PlanItem) =>
      item.key === key &&
      (code === undefined || [item.action, item.held?.code].includes(code as never)),
  )

export const findingOf = (plan: Plan, code: Finding['code'], key?: string) =>
  plan.findings.find((one) => one.code === code && (key === undefined || one.key === key))
