// Sends the confirmed changes of an entry to its campaign.

import { bindingOf } from './bind.ts'
import type { Entry } from './desired.ts'
import { changesOf, type FieldChange } from './field-changes.ts'
import { markOf, markOn, withMark } from './mark.ts'
import type { PlanItem } from './plan.ts'
import { bodyOf } from './sent.ts'
import type { Campaign, CampaignApi } from './service/port.ts'
import { whyNotWrite } from './why-not-write.ts'
import { isLimited, type UpdateTools, update, type WriteResult } from './write.ts'

interface UpdateEntryTools extends UpdateTools {
  api: CampaignApi
  /** The identity of the account; marks are made from it. */
  identity: string
}

/**
 * updateEntry sends the changes that are still open. It returns null if none is open, and `stale` if the file or the
 * campaign is not as it was planned.
 */
export async function updateEntry(
  { item, entry, changes }: { item: PlanItem; entry: Entry; changes: readonly FieldChange[] },
  { identity, ...tools }: UpdateEntryTools,
  signal: AbortSignal,
): Promise<WriteResult | null> {
  const { store, api, isCurrent } = tools
  const { key, campaignId } = item
  const stale = (reason: string): WriteResult => {
    return { key, campaignId, action: 'update', outcome: 'stale', reason }
  }
  if (!isCurrent()) return stale('the file changed meanwhile: plan again')
  const bound = store.binding(key)
  if (bound === null || bound.campaignId !== campaignId)
    return stale('the campaign no longer belongs to the entry: plan again')
  const read = await api.get(campaignId, signal)
  if (read.kind === 'failure')
    return { ...stale(read.reason), outcome: 'not-sent', isLimited: isLimited(read) }
  const campaign = read.value
  const ours = markOf(identity, key)
  const whyNot = (seen: Campaign) => whyNotWrite(seen, { ours, campaignId, bound })
  const reason = whyNot(campaign)
  if (reason !== null) return stale(reason)
  const current = new Map(changesOf(entry, campaign, bound).map((one) => [one.field, one]))
  const open = changes.filter(({ field }) => current.has(field))
  const isChanged = (change: FieldChange) => textOf(current.get(change.field)) !== textOf(change)
  const changed = open.filter(isChanged).map(({ field }) => field)
  if (changed.length > 0)
    return stale(`${changed.join(', ')} changed on the service since it was planned: plan again`)
  if (open.length === 0) return null
  const mark = markOn(campaign.name, bound.mark ?? ours)
  const fields = open.map(({ field }) => field)
  const body = bodyOf(entry, fields, (name) => withMark(name, mark))
  const order = {
    bound: bindingOf(key, campaign, { ...bound, mark: bound.mark ?? mark }),
    campaign,
    body,
    put: () => api.update(campaignId, body, signal),
    mayWrite: (seen: Campaign) => whyNot(seen) === null,
  }
  return update(order, tools, signal)
}

const textOf = (change: FieldChange | undefined) =>
  JSON.stringify([change?.field, change?.from, change?.to])
