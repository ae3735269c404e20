// Sample results of the daemon's last look at the campaigns.

import type {
  CampaignFinding,
  CampaignRun,
  CampaignSeen,
  Coverage,
} from '../../../src/ops/campaigns/run.ts'

const AT = '2026-11-20T11:40:00.000Z'

export function campaignRun(over: Partial<CampaignRun> = {}): CampaignRun {
  return {
    ...{ at: AT, since: AT, cause: 'interval', mode: 'targeting', state: 'done' },
    ...{ problem: null, hint: null, entries: [], findings: [], failures: [], ...over },
  }
}

/** campaignSeen returns an entry that is in line with the service. */
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
    ...{ changes: [], name: 'Nurses Q1', status: 'running', coverage: coverage() },
    ...over,
  }
}

/** coverage returns the main numbers of a campaign that spent 320.10 of 1,500.00. */
export function coverage(over: Partial<Coverage> = {}): Coverage {
  return {
    ...{ covered: 40, counted: 40, isAtMost: false, isMonthly: false },
    ...{ spent: '320.10', budget: '1500.00', spentShare: 0.2134, left: '1179.90' },
    ...{ begins: '2026-11-01T00:00:00Z', ends: '2026-12-31T23:59:59Z', ...over },
  }
}

/** campaignFinding returns a finding about a campaign that no entry names. */
export function campaignFinding(over: Partial<CampaignFinding> = {}): CampaignFinding {
  return {
    ...{ code: 'outside', key: null, campaignId: '48213', severity: 'warning' },
    text: 'campaign 48213 (Interns) runs without an entry, and can spend up to 900.00',
    ...{ next: 'write campaignId: "48213" into an entry', ...over },
  }
}
