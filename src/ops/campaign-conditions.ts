// The campaigns that need a person, for alerts, monitoring and status. Pure functions of the daemon's last run.

import type { CampaignRun, CampaignSeen } from '../campaigns/port.ts'
import { HOUR } from '../lib/clock.ts'
import { limited } from '../lib/limited.ts'
import type { AlertEvent } from './alert-events.ts'

export interface CampaignCondition {
  event: Extract<AlertEvent, `campaign${string}`>
  /** External campaign id, or the service's id if no entry names the campaign; null if it concerns all campaigns. */
  campaign: string | null
  state: string
  reason: string
  /** The edit or command that resolves it; null if nothing has to be done. */
  hint: string | null
  /** True if the daemon cannot keep the targeting, or if a campaign without a bound entry may spend money. */
  isCritical: boolean
  /** Identifies the occurrence: a new mark for the same event and campaign is a new occurrence. */
  mark: string
  /** True if alerts and monitoring report it, because it has lasted longer than its grace period. */
  isDue: boolean
}

/** How long each state may last before it is reported. A state without an entry needs nobody. */
const GRACE_MS: { [state in CampaignSeen['state']]?: number } = {
  blocked: 0,
  unknown: 0,
  new: HOUR,
  differs: HOUR,
  pending: 2 * HOUR,
}
/** These usually end without help: the daemon asks the service again, or the other process ends. */
const TEMPORARY_STATES: readonly CampaignRun['state'][] = ['failed', 'busy']
/** A repeated write would have the same outcome. */
const PERMANENT_OUTCOMES = ['refused', 'not-as-sent']
const MOST_CHANGES = 3

/** campaignConditions returns what alerts and monitoring report: one condition for each event and campaign. */
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

/** waitingCampaigns counts the campaigns that need a person. A run that could not compare anything counts as one. */
export function waitingCampaigns(run: CampaignRun | null): number {
  return new Set(openCampaignConditions(run).map(({ campaign }) => campaign)).size
}

/** Findings about what a campaign covers and spends: a person should look, but the daemon has nothing left to do. */
const ABOUT_NUMBERS = ['covers-none', 'covers-more', 'covers-fewer', 'spent', 'missing']

/** isAsTheFileSays returns whether no campaign differs from the file, whatever it covers and spends. */
export const isAsTheFileSays = (run: CampaignRun | null): boolean =>
  openCampaignConditions(run).every(({ state }) => ABOUT_NUMBERS.includes(state))

/** openCampaignConditions returns every condition that needs a person, including those that are not due yet. */
export function openCampaignConditions(run: CampaignRun | null): CampaignCondition[] {
  if (run === null) return []
  return [
    ...stoppedConditions(run),
    ...run.entries.flatMap((entry) => entryConditions(entry, run)),
    ...run.findings
      .filter(({ severity }) => severity === 'warning')
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
        reason: reason ?? 'a write did not succeed',
        mark: outcome,
        hint: 'feedsyncd campaigns plan',
        isDue: PERMANENT_OUTCOMES.includes(outcome),
      }),
    ),
  ]
}

/** campaignConditionText returns a condition as a sentence, without its hint. */
export function campaignConditionText({ campaign, reason, state }: CampaignCondition): string {
  return campaign === null
    ? `no campaign is written: ${reason}`
    : `campaign ${campaign} ${state}: ${reason}`
}

function stoppedConditions(run: CampaignRun): CampaignCondition[] {
  const { hint, mode, problem, since, state } = run
  if (state === 'done' || !lasted(run, since, TEMPORARY_STATES.includes(state) ? HOUR : 0))
    return []
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
  // The daemon itself is about to write it.
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

/** lasted returns whether `since` is `ms` ago. With 0 it is true even if the clock was set back. */
function lasted({ at }: CampaignRun, since: string, ms: number): boolean {
  return ms === 0 || Date.parse(at) - Date.parse(since) >= ms
}
