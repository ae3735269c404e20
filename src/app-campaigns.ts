// The composition root of the campaigns' half. Apart from app.ts, so that commands about campaigns load
// neither the watcher nor the checker.

import type { CampaignApi } from './campaigns/port.ts'
import type { Config } from './config/config.ts'
import type { Clock } from './lib/clock.ts'
import { createHttpClient } from './lib/http.ts'
import { silentLog } from './lib/log.ts'
import { VERSION } from './lib/version.ts'
import { createCampaignApi } from './service/campaigns.ts'

export interface Surroundings {
  clock: Clock
  env: Record<string, string | undefined>
}

/** The service's four campaign calls, with a network of their own. Throws `FeedsyncError` (78). */
export function openCampaignApi(
  config: Config,
  { clock, env }: Surroundings,
): { api: CampaignApi } & AsyncDisposable {
  const http = createHttpClient({ clock, env, userAgent: `feedsyncd/${VERSION}` })
  const { service, campaigns } = config
  const who = service.identity
  const identity =
    who.kind === 'account'
      ? { account: who.account }
      : { partner: who.partner, partnerAccount: who.partnerAccount }
  const api = createCampaignApi({
    ...{ ...service, identity, http, clock, log: silentLog, listField: campaigns.listField },
  })
  return { api, [Symbol.asyncDispose]: () => http[Symbol.asyncDispose]() }
}
