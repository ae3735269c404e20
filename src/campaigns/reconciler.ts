// Looks at the service and plans. Reads only; what the plan says is done in apply.ts.

import { type Clock, DAY } from '../lib/clock.ts'
import type { Desired } from './desired.ts'
import { listCampaigns } from './listing.ts'
import type { Plan } from './plan.ts'
import { makePlan } from './planner.ts'
import type { Campaign, CampaignApi, CampaignFailure, CampaignStore } from './port.ts'

export interface ReconcilerParts {
  api: CampaignApi
  store: Pick<CampaignStore, 'account' | 'records' | 'intents' | 'createsSince'>
  clock: Clock
  /** Base address and identity. */
  account: string
}

export interface Wanted {
  desired: Desired
  fileSha256: string
  allowWiden: ReadonlySet<string>
}

export interface View {
  kind: 'view'
  /** By the service's id; who writes puts in what the service shows afterwards. */
  remote: Map<string, Campaign>
  /** Plans again over what was seen so far, with what the store knows by now. */
  plan(): Plan
}

/** Lists every campaign, and reads by id those of ours that the listing does not have. */
export async function lookAtCampaigns(
  { api, store, clock, account }: ReconcilerParts,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<View | CampaignFailure> {
  const listing = await listCampaigns(api, clock, signal)
  if (listing.kind === 'failure') return listing
  const remote = new Map(listing.campaigns)
  const ours = [
    ...store.records().map(({ campaignId }) => campaignId),
    ...wanted.desired.campaigns.flatMap(({ campaignId }) => campaignId ?? []),
  ]
  for (const id of new Set(ours)) {
    if (remote.has(id)) continue
    const answer = await api.get(id, signal)
    if (answer.kind === 'ok') remote.set(id, answer.value)
    else if (answer.class !== 'missing') return answer
  }
  const incomplete = listing.kind === 'incomplete' ? listing.reason : null
  const plan = () =>
    makePlan({
      ...wanted,
      ...{ account, remote, incomplete, knownAccount: store.account() },
      records: store.records(),
      intents: store.intents(),
      createdToday: store.createsSince(clock.now() - DAY),
      now: clock.now(),
    })
  return { kind: 'view', remote, plan }
}
