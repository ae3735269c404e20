// Opens what a plan needs: the campaign calls of the service, the database for reading, and the feeds.

import { type Config, historyFile } from '../config/config.ts'
import type { Clock } from '../lib/clock.ts'
import { createHttpClient } from '../lib/http.ts'
import { silentLog } from '../lib/log.ts'
import { accountOf } from './account.ts'
import { feedSideOf } from './feed-side.ts'
import type { PlanSources } from './plan.ts'
import { createCampaignApi } from './service/api.ts'
import { listCampaigns, type OnPage } from './service/campaign-listing.ts'
import type { CampaignApi } from './service/port.ts'
import { openCampaignReader } from './store.ts'

/** ServiceAccess says how this process calls the service. */
export interface ServiceAccess {
  clock: Clock
  env: NodeJS.ProcessEnv
  onPage?: OnPage
}

/** openCampaignApi opens the service's campaign calls, with their own HTTP client. Throws `FeedsyncError` (78). */
export function openCampaignApi(
  config: Config,
  { clock, env }: ServiceAccess,
): { api: CampaignApi } & AsyncDisposable {
  const http = createHttpClient({ clock, env })
  const api = createCampaignApi({ ...config.service, http, clock, log: silentLog })
  return { api, [Symbol.asyncDispose]: () => http[Symbol.asyncDispose]() }
}

/** Planner holds the service and the database open until it is disposed. */
export interface Planner extends PlanSources, AsyncDisposable {
  api: CampaignApi
}

/** openPlanner opens what a plan needs. It takes no lock and writes nothing. Throws `FeedsyncError`. */
export function openPlanner(config: Config, access: ServiceAccess): Planner {
  const owned = new AsyncDisposableStack()
  const { api } = owned.use(openCampaignApi(config, access))
  const sources = planSourcesOf(config, access, api)
  const { account, clock } = sources
  const { now } = clock
  const store = owned.use(
    openCampaignReader({ file: historyFile(config), account: account.name, now }),
  )
  return { ...sources, api, store, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** planSourcesOf returns what a plan is made from, without the database. */
export function planSourcesOf(
  config: Config,
  { clock, onPage }: ServiceAccess,
  { clockSkewMs, get, search }: CampaignApi,
): Omit<PlanSources, 'store'> {
  return {
    service: { get, list: (signal) => listCampaigns({ search, clock, onPage }, signal) },
    // The service's time of day: a creation is open for an hour of the service's time.
    clock: { ...clock, now: () => clock.now() + (clockSkewMs() ?? 0) },
    account: accountOf(config),
    feeds: () => feedSideOf(config),
    keepsTargeting: config.campaigns.mode === 'targeting',
  }
}
