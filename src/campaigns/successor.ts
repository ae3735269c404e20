// Whether a successor could be made, asked before its campaign is stopped for it.

import type { Campaign, CampaignFailure } from '../service/port.ts'
import type { Refusal } from './decide.ts'
import { type DesiredCampaign, wantedTargeting } from './desired.ts'
import { planningOf } from './direct.ts'
import { COMMAND, quoted } from './plan.ts'
import { heldCreation } from './planner.ts'
import type { CampaignRecord } from './port.ts'
import { whyForeign } from './record.ts'
import type { PersonParts } from './send.ts'
import { refused } from './word.ts'

/** null: nothing speaks against it, or it does not run. `excluded`: campaigns that the word says are not the successor. */
export async function whyNoSuccessor(
  parts: PersonParts,
  entry: DesiredCampaign,
  record: CampaignRecord,
  campaign: Campaign,
  excluded: readonly string[],
): Promise<Refusal | CampaignFailure | null> {
  const { key, campaignId, succeeding } = record
  const foreign = whyForeign(record, campaign)
  if (foreign !== null)
    return refused(foreign, `${COMMAND} forget ${quoted(key)}, then say it again`)
  if (succeeding) return null
  const planning = await planningOf(parts, wantedTargeting(entry), [[key, excluded]])
  if ('kind' in planning) return planning
  const held = planning.runs(campaign) ? heldCreation(planning, entry) : null
  if (held === null) return null
  const { cause, code, passes, reason, needs } = held
  const ways =
    code === 'unknown'
      ? `${COMMAND} adopt ${quoted(key)} ${campaignId} ends the wait for it`
      : cause === 'maxExposure'
        ? `${needs}, or have campaign ${campaignId} archived on the service first`
        : needs
  return refused(`no successor could be made: ${reason}`, ways, passes && code !== 'unknown')
}
