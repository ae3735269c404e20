// A site with a campaigns file. Its quick clock is a minute ahead, so a command reads the file at once.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openCampaignReader } from '../../../src/campaigns/store.ts'
import { MINUTE } from '../../../src/lib/clock.ts'
import type { SandboxOptions } from '../../../src/sandbox/sandbox.ts'
import type { SandboxCampaign } from '../../../src/sandbox/service/campaign.ts'
import { runWithin } from '../command.ts'
import { eventually } from '../eventually.ts'
import { type QuickClock, quickClock } from '../quick-clock.ts'
import { type Ran, Site } from '../site.ts'

/** DROPPED_CREATE is a fault that drops one request for a new campaign, so that nobody knows whether it arrived. */
export const DROPPED_CREATE = {
  ...({ at: 'service', kind: 'drop', point: 'headers', how: 'rst' } as const),
  ...({ route: 'campaign-create', times: 1 } as const),
}

export class CampaignsSite implements AsyncDisposable {
  readonly site: Site
  readonly clock: QuickClock

  private constructor(site: Site, clock: QuickClock) {
    this.site = site
    this.clock = clock
  }

  static async open(
    file: string | null,
    config: Record<string, unknown> = {},
    callers: SandboxOptions['callers'] | null = null,
  ): Promise<CampaignsSite> {
    const clock = quickClock({ ahead: MINUTE })
    const vendor = new CampaignsSite(
      await Site.open(config, { clock, ...(callers && { callers }) }),
      clock,
    )
    if (file !== null) vendor.write(file)
    return vendor
  }

  write(file: string): void {
    writeFileSync(join(this.site.root, 'campaigns.yaml'), file)
  }

  /** campaigns runs a command without a terminal. */
  campaigns(...args: string[]): Promise<Ran> {
    return this.site.run('campaigns', ...args)
  }

  /** asking runs a command on a terminal. When the command asks, `answer` acts and answers for the person. */
  async asking(answer: () => boolean | Promise<boolean>, ...args: string[]): Promise<Ran> {
    const env = { ...process.env, ...this.site.runtime }
    const ask = async (_question: string) => answer()
    const words = ['campaigns', ...args, '--config', this.site.configFile]
    return await runWithin(words, { clock: this.clock, env, ask })
  }

  /** apply plans, and sends exactly this plan. */
  async apply(...keys: string[]): Promise<Ran> {
    const { digest } = JSON.parse((await this.campaigns('plan', ...keys, '--json')).stdout)
    return await this.campaigns('apply', ...keys, '--plan', digest)
  }

  get all(): SandboxCampaign[] {
    return this.site.sandbox.campaigns.all
  }

  /** campaign returns the campaign with this id, to read and edit. */
  campaign(id: string): SandboxCampaign {
    const found = this.all.find((one) => one.id === id)
    if (found === undefined) throw new Error(`there is no campaign ${id}`)
    return found
  }

  /** calls counts the requests of a route so far, such as `campaign-create`. */
  calls(route: string): number {
    return this.site.sandbox.requests().filter((request) => request.route === route).length
  }

  writes(): number {
    return this.calls('campaign-create') + this.calls('campaign-update')
  }

  /** lastRun returns the stored result of the last look. */
  lastRun() {
    const file = join(this.site.root, 'state', 'feedsyncd.db')
    using reader = openCampaignReader({ file, account: `${this.site.sandbox.url} 123` })
    return reader?.lastRun() ?? null
  }

  until(check: () => void): Promise<void> {
    return eventually(check)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.site[Symbol.asyncDispose]()
  }
}
