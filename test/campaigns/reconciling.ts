// A vendor's campaigns file against an account of the sandbox, with a database of its own. `crash` makes
// a point of the protocol the last thing that happens; the next run starts from what is on disk.

import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { applyPlan, type Result } from '../../src/campaigns/apply.ts'
import { readDesired } from '../../src/campaigns/desired-reader.ts'
import type { Plan, PlanItem } from '../../src/campaigns/plan.ts'
import type { CampaignStore } from '../../src/campaigns/port.ts'
import { lookAtCampaigns } from '../../src/campaigns/reconciler.ts'
import { openCampaignStore } from '../../src/history/campaign-store.ts'
import type { CampaignKnobs } from '../../src/sandbox/campaign-types.ts'
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
    const whole = { ...parts, signal: forever, cause: 'test' }
    return await applyPlan(whole, wanted, view, options.approved ?? null)
  }

  /** Calls of the service that change something, so far. */
  writes(): number {
    return this.account.calls('campaign-create') + this.account.calls('campaign-update')
  }

  async #look(store: CampaignStore, allowWiden: string[]) {
    const reading = readDesired(this.file)
    if (reading.kind === 'problems') throw new Error(JSON.stringify(reading.problems))
    const { api, clock } = this.account
    const parts = { api, clock, store, account: this.configured }
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
