// Looks at the service and plans. Reads only; what the plan says is done in apply.ts.

import type { FeedSide } from '../feed/port.ts'
import { type Clock, DAY } from '../lib/clock.ts'
import type { Campaign, CampaignApi, CampaignFailure, Listing } from '../service/port.ts'
import type { Desired, DesiredCampaign } from './desired.ts'
import { type Measured, measure } from './effects.ts'
import type { Plan } from './plan.ts'
import { makePlan } from './planner.ts'
import type { CampaignRecord, CampaignStore } from './port.ts'
import { type CanonicalTargeting, canonical } from './targeting.ts'
import { tokenOf } from './token.ts'

export interface ReconcilerParts {
  api: CampaignApi
  /** Every campaign of the account, archived ones too. */
  list: (signal: AbortSignal) => Promise<Listing>
  store: CampaignStore
  /** What was uploaded so far. */
  feeds: () => FeedSide
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
  { api, list, store, feeds, clock, account }: ReconcilerParts,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<View | CampaignFailure> {
  const listing = await list(signal)
  if (listing.kind === 'failure') return listing
  const remote = new Map(listing.campaigns)
  const records = store.records()
  const ours = [
    ...records.map(({ campaignId }) => campaignId),
    ...wanted.desired.campaigns.flatMap(({ campaignId }) => campaignId ?? []),
  ]
  for (const id of new Set(ours)) {
    if (remote.has(id)) continue
    const answer = await api.get(id, signal)
    if (answer.kind === 'ok') remote.set(id, answer.value)
    else if (answer.class !== 'missing') return answer
  }
  const incomplete = listing.kind === 'incomplete' ? listing.reason : null
  for (const record of incomplete === null ? records : []) {
    const missingSince = remote.has(record.campaignId) ? null : (record.missingSince ?? clock.now())
    if (missingSince !== (record.missingSince ?? null)) store.save({ ...record, missingSince })
  }
  const generations = store.generations()
  const token = (key: string) => tokenOf(account, key, generations.get(key))
  const targetings = measured(wanted.desired, records)
  const effects = await measure(feeds(), targetings, clock.now(), signal)
  const plan = () =>
    makePlan({
      ...wanted,
      ...{ account, token, remote, incomplete, effects, knownAccount: store.account() },
      records: store.records(),
      intents: store.intents(),
      createdToday: store.createsSince(clock.now() - DAY),
      now: clock.now(),
    })
  return { kind: 'view', remote, plan }
}

/** What the file wants to select, and what the service may select now. */
export function measured(desired: Desired, records: readonly CampaignRecord[]): Measured[] {
  const wanted = desired.campaigns.map((entry) => {
    return { key: entry.key, targeting: wantedTargeting(entry), wanted: true }
  })
  const there = records.flatMap(({ key, applied, pending }) =>
    [applied.targeting, pending].flatMap((targeting) =>
      targeting == null ? [] : { key, targeting, wanted: false },
    ),
  )
  return [...wanted, ...there]
}

/** What a create sends; an entry without targeting selects by its id. */
export const wantedTargeting = ({ key, targeting }: DesiredCampaign): CanonicalTargeting =>
  targeting ?? canonical({ externalCampaignId: key })
