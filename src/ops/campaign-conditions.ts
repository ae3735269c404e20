// What of the campaigns needs a person: read from how the last look ended, for alerts, monitoring and status. Pure.

import type { CampaignRun, CampaignSeen } from '../campaigns/port.ts'
import { HOUR } from '../lib/clock.ts'
import { limited } from '../lib/limited.ts'
import type { AlertEvent } from './alert-events.ts'

export interface CampaignCondition {
  event: Extract<AlertEvent, `campaign${string}`>
  /** The external campaign id, or the service's id of a campaign in no entry; null: it concerns all of them. */
  campaign: string | null
  state: string
  reason: string
  /** The edit or command that settles it; null: nothing has to be done. */
  hint: string | null
  /** The daemon cannot keep the targeting, or a campaign may spend that no entry is bound to. */
  isCritical: boolean
  /** Another mark for the same event and campaign is another occurrence. */
  mark: string
  /** Alerts and monitoring report it: its time to settle without them is over. */
  isDue: boolean
}

/** How long a state may last before it is reported; absent: it needs nobody. */
const GRACE_MS: { [state in CampaignSeen['state']]?: number } = {
  blocked: 0,
  unknown: 0,
  new: HOUR,
  differs: HOUR,
  pending: 2 * HOUR,
}
/** The service is asked again, and another process ends: no person is needed before an hour. */
const TEMPORARY_STATES: readonly CampaignRun['state'][] = ['failed', 'busy']
/** Writes that end no better when the daemon repeats them. */
const PERMANENT_OUTCOMES = ['refused', 'not-as-sent']
const MOST_CHANGES = 3

/** What alerts and monitoring report, one condition for each event and campaign. null: there was no look. */
export function campaignConditions(run: CampaignRun | null): CampaignCondition[] {
  const due = openCampaignConditions(run).filter(({ isDue }) => isDue)
  const groups = Map.groupBy(due, ({ event, campaign }) => JSON.stringify([event, campaign]))
  return [...groups.values()].flatMap((each) =>
    each.slice(0, 1).map((first) => ({
      ...first,
      reason: each.map(({ reason }) => reason).join('; '),
      mark: each.map(({ mark }) => mark).join('\n'),
    })),
  )
}

/** How many campaigns need a person; that nothing can be looked at counts as one. */
export function waitingCampaigns(run: CampaignRun | null): number {
  return new Set(openCampaignConditions(run).map(({ campaign }) => campaign)).size
}

/** All that needs a person, also what is not due yet: for people who look. */
export function openCampaignConditions(run: CampaignRun | null): CampaignCondition[] {
  if (run === null) return []
  return [
    ...stoppedConditions(run),
    ...run.entries.flatMap((entry) => entryConditions(entry, run)),
    ...run.findings
      .filter(({ isReported }) => isReported)
      .map(({ campaignId, code, key, next, text }) =>
        waitingCondition(key ?? campaignId, {
          state: code,
          reason: text,
          hint: next,
          mark: `${code} ${campaignId}`,
          isDue: true,
        }),
      ),
    ...run.failures.map(({ key, outcome, reason }) =>
      waitingCondition(key, {
        state: outcome,
        reason: reason ?? 'a write did not end as it should',
        mark: outcome,
        hint: 'feedsyncd campaigns plan',
        isDue: PERMANENT_OUTCOMES.includes(outcome),
      }),
    ),
  ]
}

/** In a sentence, without what is to be done. */
export function campaignConditionText({ campaign, reason, state }: CampaignCondition): string {
  return campaign === null
    ? `no campaign is written: ${reason}`
    : `campaign ${campaign} ${state}: ${reason}`
}

function stoppedConditions(run: CampaignRun): CampaignCondition[] {
  const { hint, mode, problem, since, state } = run
  if (state === 'done' || !lasted(run, since, TEMPORARY_STATES.includes(state) ? HOUR : 0)) return []
  const reason = problem ?? state
  const isCritical = mode === 'targeting'
  const what = { event: 'campaigns-stopped', campaign: null, mark: state, isDue: true } as const
  return [{ ...what, state, reason, hint, isCritical }]
}

function entryConditions(entry: CampaignSeen, run: CampaignRun): CampaignCondition[] {
  const { key, next, since, state } = entry
  const graceMs = GRACE_MS[state]
  if (graceMs === undefined) return []
  const isDue = lasted(run, since, graceMs)
  // Until then the daemon is about to write it.
  if (state === 'pending' && !isDue) return []
  const what = { state, reason: reasonOf(entry), hint: next, mark: `${state} ${next}`, isDue }
  if (state !== 'unknown') return [waitingCondition(key, what)]
  const isCritical = run.mode === 'targeting'
  return [{ ...what, event: 'campaign-unknown', campaign: key, isCritical }]
}

function waitingCondition(
  campaign: string | null,
  what: Omit<CampaignCondition, 'event' | 'campaign' | 'isCritical'>,
): CampaignCondition {
  return { event: 'campaign-waiting', campaign, isCritical: false, ...what }
}

function reasonOf({ campaignId, changes, reason, state }: CampaignSeen): string {
  if (reason !== null) return reason
  if (state !== 'new') return limited(changes, MOST_CHANGES).join('; ')
  return campaignId === null
    ? 'it is not created yet'
    : limited([`campaign ${campaignId} is not bound to it yet`, ...changes], MOST_CHANGES).join(
        '; ',
      )
}

/** What needs no time is due also where the clock was set back since it began. */
function lasted({ at }: CampaignRun, since: string, ms: number): boolean {
  return ms === 0 || Date.parse(at) - Date.parse(since) >= ms
}
