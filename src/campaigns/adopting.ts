// Whose a campaign is: the record of one that is taken over, the entry that a mark belongs to, and the account
// of the database. Pure.

import type { Campaign } from '../service/port.ts'
import type { Plan } from './plan.ts'
import type { Planning } from './planning.ts'
import type { CampaignRecord } from './port.ts'
import { tokenIn } from './token.ts'

export function whyStopped(account: string, known: string): Plan['stopped'] {
  if (account === known) return null
  return {
    reason: `the database belongs to the account ${known}, the configuration names ${account}`,
    needs: 'give each account a state.directory of its own',
  }
}

/** The other entry that the mark of a campaign belongs to. */
export function ownerOf(
  { input, absence }: Pick<Planning, 'input' | 'absence'>,
  { key, token }: CampaignRecord,
): string | null {
  if (token === null) return null
  const { desired, records } = input
  const recorded = records.find((one) => one.token === token && one.key !== key)
  const isIn = (one: { key: string }) =>
    [...desired.campaigns, ...desired.removed].some((listed) => listed.key === one.key)
  if (recorded !== undefined) return isIn(recorded) ? recorded.key : null
  const listed = [...desired.campaigns, ...desired.removed].filter((one) => one.key !== key)
  return (
    listed.find((one) => absence.marked(one.key).some(({ name }) => tokenIn(name) === token))
      ?.key ?? null
  )
}

/** The record of a campaign that a person or the file names: nothing of it was written by us. */
export function adoptedRecord(key: string, campaign: Campaign): CampaignRecord {
  return {
    ...{ key, campaignId: campaign.id, token: tokenIn(campaign.name) },
    ...{ accountId: campaign.accountId ?? null, origin: 'adopted', written: {}, targeting: null },
    ...{
      uncertain: [],
      forms: {},
      doubt: null,
      past: [],
      succeeding: false,
      missingSince: null,
      said: {},
    },
  }
}
