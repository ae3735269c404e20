// How a pass over the folder ended, as one word.

import type { Notes, VersionReads } from '../history/port.ts'
import { IN_WORK, NEEDS_PERSON } from '../history/states.ts'
import { isOfInbox } from '../lib/conditions.ts'
import type { CampaignRun } from '../ops/port.ts'

export type Outcome = 'nothing-owed' | 'owed' | 'credentials' | 'not-all-ok'

/** By the newest version of each feed. Pending work counts first; a folder that cannot be listed may hold some. */
export function outcomeOf(
  history: VersionReads & Pick<Notes, 'daemon'>,
  refusal: unknown,
  campaigns: CampaignRun | null = null,
): Outcome {
  if (refusal !== null) return 'credentials'
  if (history.daemon()?.conditions.some(({ code }) => isOfInbox(code))) return 'owed'
  if (history.list({ states: IN_WORK, all: true, limit: 1 }).length > 0) return 'owed'
  const ofCampaigns = campaigns === null ? 'nothing-owed' : outcomeOfCampaigns(campaigns)
  if (ofCampaigns === 'owed' || ofCampaigns === 'credentials') return ofCampaigns
  if (history.list({ states: NEEDS_PERSON, limit: 1 }).length > 0) return 'not-all-ok'
  return ofCampaigns
}

/** In report mode nothing is pending: a later pass reports the same. */
function outcomeOfCampaigns({ mode, state, waiting, findings = [] }: CampaignRun): Outcome {
  if (state === 'credentials') return 'credentials'
  if (state === 'failed' || state === 'busy') return mode === 'apply' ? 'owed' : 'nothing-owed'
  return state === 'done' && waiting.length + findings.length === 0 ? 'nothing-owed' : 'not-all-ok'
}
