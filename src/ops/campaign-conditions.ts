// What of the campaigns needs a person, for alerts and for monitoring: read from how the last look ended.
// What a later look settles is given its time first. Pure.

import { hash } from 'node:crypto'
import type { AlertEvent } from '../lib/alert-events.ts'
import { HOUR, MINUTE } from '../lib/clock.ts'
import type { CampaignRun } from './port.ts'

export interface CampaignCondition {
  event: Extract<AlertEvent, `campaign${string}` | 'plan-waiting'>
  /** External campaign id; null: it concerns all of them. */
  campaign: string | null
  state: string
  reason: string
  /** The edit or command that settles it; null: nothing has to be done. */
  hint: string | null
  /** Nothing is written although the daemon should, or money may be spent that nobody looks after. */
  isCritical: boolean
  /** Another mark for the same event and campaign is another occurrence. */
  mark: string
  /** A later look may settle it in this time from `since` on. */
  graceMs: number
  since?: string | undefined
}

/** A service that could not be asked is asked again; another process ends on its own. */
const NO_PERSON: readonly CampaignRun['state'][] = ['done', 'failed', 'busy']
/** Two hourly looks may miss each other. */
const PASSING_MS = HOUR
/** A create that was sent is listed by then, or held. */
const UNKNOWN_MS = 15 * MINUTE
const MOST_NAMED = 5

/** How the look ended: no later one ends better unless somebody does something. */
export function waitsForPerson(state: CampaignRun['state']): boolean {
  return !NO_PERSON.includes(state)
}

/** null: there was no look, or there is no campaigns file. */
export function campaignConditions(run: CampaignRun | null): CampaignCondition[] {
  if (run === null) return []
  const all = [...stopPoint(run), ...openPoints(run), ...planned(run)]
  // What has no grace is due, also where the clock was set back since it began.
  const due = all.filter(
    ({ since = run.at, graceMs }) =>
      graceMs === 0 || Date.parse(run.at) - Date.parse(since) >= graceMs,
  )
  // One for each event and campaign.
  const groups = Map.groupBy(due, ({ event, campaign }) => JSON.stringify([event, campaign]))
  return [...groups.values()].flatMap((each) =>
    each.slice(0, 1).map((first) => ({
      ...first,
      reason: each.map(({ reason }) => reason).join('; '),
      mark: each.map(({ mark }) => mark).join('\n'),
    })),
  )
}

/** How many things need a person now, or may soon: for people who look, who are told of no grace. */
export function waitingCampaigns(run: CampaignRun | null): number {
  if (run === null) return 0
  const waiting = new Set(openPoints(run).map(({ campaign }) => campaign))
  return waiting.size + Number(waitsForPerson(run.state))
}

/** What waits for a person, differs from the file, spends outside it, or runs on without a feed. */
export function openPoints(run: CampaignRun): CampaignCondition[] {
  const { waiting, findings = [], vanished = [] } = run
  return [
    ...waiting.map(({ key, action, code, reason, needs, passes, since }): CampaignCondition => {
      const isUnknown = action === 'unknown'
      return {
        event: isUnknown ? 'campaign-unknown' : 'campaign-waiting',
        ...{ campaign: key, state: action, reason: reason ?? 'it was not done', hint: needs },
        ...{ isCritical: isUnknown, mark: isUnknown ? '' : `${action} ${code}` },
        ...{ graceMs: isUnknown ? UNKNOWN_MS : passes ? PASSING_MS : 0, since },
      }
    }),
    ...findings.map(({ key, campaignId, code, reason, needs }): CampaignCondition => {
      const what = { campaign: key, state: code, reason, hint: needs, isCritical: false }
      return { event: 'campaign-waiting', ...what, mark: `${code} ${campaignId}`, graceMs: 0 }
    }),
    ...vanished.map(({ key, campaignId, uploads, pinned }): CampaignCondition => {
      const still = pinned === 0 ? '' : `; its ${pinned} pinned requisitions may still spend`
      return {
        ...{ event: 'campaign-vanished', campaign: key, state: 'vanished', mark: campaignId },
        reason: `the last ${uploads} uploads do not carry it, and campaign ${campaignId} runs on${still}`,
        hint: 'have the feed carry it again, or end the campaign: list it under removed in the file',
        ...{ isCritical: false, graceMs: 0 },
      }
    }),
  ]
}

/** All campaigns wait: none where the look came to its end. */
export function stopPoint({ hint, mode, problem, since, state }: CampaignRun): CampaignCondition[] {
  if (state === 'done') return []
  // In mode `report` a person writes, and sees it then.
  const what = { campaign: null, state, hint, isCritical: mode === 'apply', mark: state, since }
  const graceMs = waitsForPerson(state) ? 0 : PASSING_MS
  return [{ event: 'campaigns-stopped', reason: problem ?? state, ...what, graceMs }]
}

function planned({ mode, planned = [] }: CampaignRun): CampaignCondition[] {
  if (mode === 'apply' || planned.length === 0) return []
  const more = planned.length > MOST_NAMED ? ', ...' : ''
  const named = `${planned.slice(0, MOST_NAMED).join(', ')}${more}`
  const count = planned.length === 1 ? '1 change waits' : `${planned.length} changes wait`
  return [
    {
      ...{ event: 'plan-waiting', campaign: null, state: 'planned', isCritical: false, graceMs: 0 },
      reason: `${count} for approval: ${named}`,
      hint: 'feedsyncd campaigns plan, then feedsyncd campaigns apply with its number',
      mark: hash('sha256', planned.join('\n')).slice(0, 16),
    },
  ]
}
