// A site with a campaigns file that has rested: a command reads it at once, on a quick clock.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { openCampaignReader, openCampaignStore } from '../../../src/history/campaign-store.ts'
import { MINUTE } from '../../../src/lib/clock.ts'
import { eventually } from '../eventually.ts'
import { type QuickClock, quickClock } from '../quick-clock.ts'
import { type Ran, Site } from '../site.ts'

export class CampaignsSite implements AsyncDisposable {
  readonly site: Site
  readonly clock: QuickClock
  readonly #database: string

  private constructor(site: Site, clock: QuickClock) {
    this.site = site
    this.clock = clock
    this.#database = join(site.root, 'state', 'feedsyncd.db')
  }

  /** `isApproved`: a person approved a plan on this database before. */
  static async open(
    file: string | null,
    config: Record<string, unknown> = {},
    { isApproved = false } = {},
  ): Promise<CampaignsSite> {
    const clock = quickClock({ ahead: MINUTE })
    const vendor = new CampaignsSite(await Site.open(config, { clock }), clock)
    if (isApproved) {
      using store = openCampaignStore({ file: vendor.#database })
      const account = `${vendor.site.sandbox.url} 123`
      store.saveAccount({ account, approvedAt: 1, keepsTokens: true, isCounted: true })
    }
    if (file !== null) vendor.write(file)
    return vendor
  }

  write(file: string): void {
    writeFileSync(join(this.site.root, 'campaigns.yaml'), file)
  }

  campaigns(...args: string[]): Promise<Ran> {
    return this.site.run('campaigns', ...args)
  }

  get all() {
    return this.site.sandbox.campaigns.all
  }

  /** Requests of a route so far, such as `campaign-create`. */
  calls(route: string): number {
    return this.site.sandbox.requests().filter((request) => request.route === route).length
  }

  writes(): number {
    return this.calls('campaign-create') + this.calls('campaign-update')
  }

  /** What the last look is remembered by. */
  lastRun() {
    using memory = openCampaignReader({ file: this.#database })
    return memory?.lastRun() ?? null
  }

  until(check: () => void): Promise<void> {
    return eventually(check)
  }

  /** The create whose outcome is not known was sent an hour earlier. */
  anHourAgo(): void {
    const db = new Database(this.#database)
    db.exec('DROP TRIGGER campaign_writes_kept')
    db.prepare('UPDATE campaign_writes SET at = at - 3700000').run()
    db.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.site[Symbol.asyncDispose]()
  }
}
