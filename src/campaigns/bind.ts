// Binds campaigns to the entries of the file, as a person confirmed.

import { shownValue } from './fields.ts'
import { hasMark, markOf, markOn } from './mark.ts'
import type { PlanItem } from './plan.ts'
import type { Binding, CampaignStore, CampaignWrite, KnownCampaign } from './port.ts'
import type { Recorder } from './recorder.ts'
import type { Seen } from './seen.ts'
import { sentOf } from './sent.ts'
import type { Campaign } from './service/port.ts'

interface BindTools {
  store: CampaignStore
  recorder: Recorder
  /** The identity of the account; marks are made from it. */
  identity: string
}

/** bindAll binds all campaigns in one transaction: all are bound, or none. */
export function bindAll(items: readonly PlanItem[], seen: Seen, tools: BindTools): void {
  const { store, recorder, identity } = tools
  store.atomically(() => {
    const known = new Map(store.bindings().map((one) => [one.campaignId, one]))
    const creations = store.openCreations()
    for (const { key, campaignId } of items) {
      const campaign = seen.campaign(campaignId ?? '')
      if (campaign == null) throw new Error(`campaign ${campaignId} was not seen`)
      recorder.recordBind(key, campaign.id)
      const isOf = (one: CampaignWrite) =>
        one.key === key || hasMark(campaign.name, markOf(identity, one.key))
      const bound = { known: known.get(campaign.id), creations: creations.filter(isOf) }
      bind({ key, campaign, ...bound }, tools)
    }
  })
}

/**
 * bind binds a campaign to a key, even if the campaign belonged to another key. It releases the key's earlier campaign
 * and ends the open creations.
 */
function bind(
  {
    key,
    campaign,
    known,
    creations,
  }: {
    key: string
    campaign: Campaign
    /** The campaign's earlier binding. */
    known: Binding | undefined
    /** The open creations of the key, and of the keys whose mark the campaign has. */
    creations: readonly CampaignWrite[]
  },
  { store, recorder, identity }: BindTools,
): void {
  const earlier = store.binding(key)
  if (earlier !== null && earlier.campaignId !== campaign.id) store.release(earlier.campaignId, key)
  const ours = markOf(identity, key)
  const creation = hasMark(campaign.name, ours) ? creations.at(-1) : undefined
  const reason = 'bound by a person'
  for (const { id } of creations)
    recorder.end(id, { outcome: id === creation?.id ? 'done' : 'unknown', reason })
  store.save(
    bindingOf(key, campaign, {
      sent: known?.sent ?? sentOf(creation?.body ?? {}),
      shown: known?.shown ?? null,
      mark: known?.mark ?? markOn(campaign.name, ours),
      repeatAt: null,
    }),
  )
}

/** bindingOf returns a binding. It keeps the first known account and start, which never change. */
export function bindingOf(
  key: string,
  campaign: Campaign,
  known: KnownCampaign & Partial<Binding>,
): Binding {
  const startDate = shownValue(campaign, 'startDate')
  return {
    key,
    campaignId: campaign.id,
    sent: known.sent,
    shown: known.shown,
    accountId: known.accountId ?? campaign.accountId ?? null,
    startDate: known.startDate ?? (typeof startDate === 'string' ? startDate : null),
    mark: known.mark,
    repeatAt: known.repeatAt,
  }
}
