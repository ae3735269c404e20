// Decides whether we may still write a campaign: by its id, account, start, mark and status. Pure.

import { shownValue } from './fields.ts'
import { markOn } from './mark.ts'
import type { Binding } from './port.ts'
import { idAndName } from './seen.ts'
import type { Campaign } from './service/port.ts'

const UNBOUND = { accountId: null, startDate: null, mark: null }

/**
 * whyNotWrite returns why `campaign` must not be written: it is archived, or its id, account, start or mark shows that
 * it is not the campaign of the entry; null if we may write it.
 */
export function whyNotWrite(
  campaign: Campaign,
  {
    ours,
    campaignId: id,
    bound,
  }: {
    /** The mark of the entry. */
    ours: string
    campaignId: string
    bound: Binding | null
  },
): string | null {
  const { accountId, startDate, mark } = bound ?? UNBOUND
  if (campaign.id !== id) return `the service returned campaign ${campaign.id} for the id ${id}`
  if (accountId !== null && campaign.accountId != null && campaign.accountId !== accountId)
    return `campaign ${id} belongs to the account ${campaign.accountId}, but the bound campaign belonged to ${accountId}`
  const started = shownValue(campaign, 'startDate')
  if (startDate !== null && typeof started === 'string' && started !== startDate)
    return `campaign ${id} starts at ${started}, but the bound campaign started at ${startDate}`
  const shown = markOn(campaign.name, ours)
  if (shown !== null && shown !== ours && shown !== mark)
    return `the name of campaign ${id} carries the mark of another entry: ${campaign.name}`
  return shownValue(campaign, 'status') === 'archived'
    ? `campaign ${idAndName(campaign)} is archived`
    : null
}
