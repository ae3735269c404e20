// Sample results of the daemon's last look at the campaigns.

import type { CampaignFinding, CampaignRun, CampaignSeen } from '../../../src/campaigns/port.ts'

const AT = '2026-11-20T11:40:00.000Z'

export function campaignRun(over: Partial<CampaignRun> = {}): CampaignRun {
  return {
    ...{ at: AT, since: AT, cause: 'interval', mode: 'targeting', state: 'done' },
    ...{ problem: null, hint: null, entries: [], findings: [], failures: [], ...over },
  }
}

/** An entry that is in line with the service. */
export function campaignSeen(over: Partial<CampaignSeen> = {}): CampaignSeen {
  return {
    ...{
      key: 'NUR-Q1',
      campaignId: '48211',
      state: 'in line',
      since: AT,
      reason: null,
      next: null,
    },
    ...{ changes: [], name: 'Nurses Q1', status: 'running', budget: '1500.00', spend: '320.10' },
    ...over,
  }
}

/** A finding about a campaign that no entry names. */
export function campaignFinding(over: Partial<CampaignFinding> = {}): CampaignFinding {
  return {
    ...{ code: 'outside', key: null, campaignId: '48213', isReported: true },
    text: 'campaign 48213 (Interns) runs without an entry, and may spend up to 900.00',
    ...{ next: 'write campaignId: "48213" into an entry', ...over },
  }
}
