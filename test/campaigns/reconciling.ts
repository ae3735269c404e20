// A vendor's campaigns file against an account of the sandbox, with a database of its own. `crash` makes
// a point of the protocol the last thing that happens; the next run starts from what is on disk.

import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { feedSideOf } from '../../src/app-campaigns.ts'
import { keepApplied } from '../../src/app-reconcile.ts'
import { applyPlan, type Result } from '../../src/campaigns/apply.ts'
import { readDesired } from '../../src/campaigns/desired-reader.ts'
import type { Plan, PlanItem } from '../../src/campaigns/plan.ts'
import type { CampaignStore } from '../../src/campaigns/port.ts'
import { lookAtCampaigns } from '../../src/campaigns/reconciler.ts'
import type { FeedSide } from '../../src/feed/port.ts'
import { openCampaignStore } from '../../src/history/campaign-store.ts'
import { openHistory } from '../../src/history/sqlite-history.ts'
import type { CampaignRun } from '../../src/ops/port.ts'
import type { CampaignKnobs } from '../../src/sandbox/campaign-types.ts'
import { listCampaigns } from '../../src/service/campaign-listing.ts'
import { type Account, forever, openAccount } from './account.ts'

export const NOW = Date.UTC(2026, 11, 1, 12)
const ACCOUNT = 'https://service.example 123'

export class Vendor {
  readonly account: Account
  file: string
  database = join(mkdtempSync(join(tmpdir(), 'feedsyncd-reconcile-')), 'feedsyncd.db')
  configured = ACCOUNT

  constructor(account: Account, file: string) {
    this.account = account
    this.file = file
  }

  static async open(file: string, knobs: Partial<CampaignKnobs> = {}): Promise<Vendor> {
    const vendor = new Vendor(await openAccount(knobs, { now: NOW }), file)
    onTestFinished(() => rmSync(join(vendor.database, '..'), { recursive: true }))
    return vendor
  }

  get campaigns() {
    return this.account.sandbox.campaigns
  }

  store(): CampaignStore {
    return openCampaignStore({ file: this.database })
  }

  async plan(allowWiden: string[] = []): Promise<Plan> {
    using store = this.store()
    const { view } = await this.#look(store, allowWiden)
    return view.plan()
  }

  async apply(
    options: { allowWiden?: string[]; approved?: Plan; store?: CampaignStore } = {},
  ): Promise<Result[]> {
    using store = options.store ?? this.store()
    const { parts, wanted, view } = await this.#look(store, options.allowWiden ?? [])
    const whole = { ...parts, signal: forever, stop: forever, cause: 'test' }
    return await applyPlan(whole, wanted, view, options.approved ?? null)
  }

  /** Applies, and answers what is kept of it for `status`, alerts and monitoring. */
  async run(): Promise<CampaignRun> {
    using store = this.store()
    const { parts, wanted, view } = await this.#look(store, [])
    const whole = { ...parts, signal: forever, stop: forever, cause: 'test' }
    const results = await applyPlan(whole, wanted, view, null)
    const at = new Date(parts.clock.now()).toISOString()
    const config = { campaigns: { mode: 'apply' } } as Parameters<typeof keepApplied>[1]
    keepApplied(store, config, { at, cause: 'test', planId: null }, view, results)
    return JSON.parse(store.lastRun() ?? 'null')
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
    const config = { service: { identity: { kind: 'account' } }, state: { directory }, feeds: [] }
    return feedSideOf(config as unknown as Parameters<typeof feedSideOf>[0])
  }

  /** Calls of the service that change something, so far. */
  writes(): number {
    return this.account.calls('campaign-create') + this.account.calls('campaign-update')
  }

  async #look(store: CampaignStore, allowWiden: string[]) {
    const reading = readDesired(this.file)
    if (reading.kind === 'problems') throw new Error(JSON.stringify(reading.problems))
    const { api, clock } = this.account
    const list = (signal: AbortSignal) => listCampaigns(api, clock, signal)
    const parts = { api, list, feeds: () => this.feeds(), clock, store, account: this.configured }
    const wanted = {
      desired: reading.desired,
      fileSha256: createHash('sha256').update(this.file).digest('hex'),
      allowWiden: new Set(allowWiden),
    }
    const view = await lookAtCampaigns(parts, wanted, forever)
    if (view.kind === 'failure') throw new Error(view.reason)
    return { parts, wanted, view }
  }
}

export const entry = (key: string, fields = '') =>
  `  - externalCampaignId: ${key}\n    name: Campaign ${key}\n    budget: "100.00"\n${fields
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `    ${line}\n`)
    .join('')}`

export const fileOf = (...entries: string[]) => `version: 1\ncampaigns:\n${entries.join('')}`

export const itemOf = (plan: Plan, key: string, action?: PlanItem['action']) =>
  plan.items.find((item) => item.key === key && (action === undefined || item.action === action))
