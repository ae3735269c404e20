// What of the campaigns needs a person, for alerts and for monitoring: read from how the last look ended.
// What a later look settles is given its time first. Pure.

import { createHash } from 'node:crypto'
import { HOUR, MINUTE } from '../lib/clock.ts'
import type { AlertEvent, CampaignRun } from './port.ts'

export interface CampaignCondition {
  event: Extract<AlertEvent, `campaign${string}` | 'plan-waiting'>
  /** External campaign id; null: it concerns all of them. */
  campaign: string | null
  state: string
  reason: string
  hint: string | null
  /** Nothing is written although the daemon should, or money may be spent that nobody looks after. */
  isCritical: boolean
  /** Another mark for the same event and campaign is another occurrence. */
  mark: string
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
  const due = openPoints(run).filter(({ since, graceMs }) => elapsed(since, run.at) >= graceMs)
  return [...stopped(run), ...joined(due), ...planned(run)]
}

/** How many things need a person now, or may soon: for people who look, who are told of no grace. */
export function waitingCampaigns(run: CampaignRun | null): number {
  if (run === null) return 0
  return new Set(openPoints(run).map(({ key }) => key)).size + Number(waitsForPerson(run.state))
}

/** What waits for a person, differs from the file, spends outside it, or runs on without a feed. */
export interface OpenPoint {
  event: 'campaign-waiting' | 'campaign-unknown' | 'campaign-vanished'
  /** External campaign id; null: it concerns the account. */
  key: string | null
  state: string
  reason: string
  /** The edit or command that settles it; null: nothing has to be done. */
  needs: string | null
  /** Another mark for the same campaign is another occurrence. */
  mark: string
  /** A later look may settle it in this time from `since` on. */
  graceMs: number
  since?: string | undefined
}

export function openPoints({ waiting, findings = [], vanished = [] }: CampaignRun): OpenPoint[] {
  return [
    ...waiting.map(({ key, action, code, reason, needs, passes, since }): OpenPoint => {
      const isUnknown = action === 'unknown'
      return {
        event: isUnknown ? 'campaign-unknown' : 'campaign-waiting',
        ...{ key, state: action, reason: reason ?? 'it was not done', needs, since },
        mark: isUnknown ? '' : `${action} ${code}`,
        graceMs: isUnknown ? UNKNOWN_MS : passes ? PASSING_MS : 0,
      }
    }),
    ...findings.map(({ key, campaignId, code, reason, needs }): OpenPoint => {
      const mark = `${code} ${campaignId}`
      return { event: 'campaign-waiting', key, state: code, reason, needs, mark, graceMs: 0 }
    }),
    ...vanished.map(({ key, campaignId, uploads, pinned }): OpenPoint => {
      const still = pinned === 0 ? '' : `; its ${pinned} pinned requisitions may still spend`
      return {
        ...{ event: 'campaign-vanished', key, state: 'vanished', mark: campaignId, graceMs: 0 },
        reason: `the last ${uploads} uploads do not carry it, and campaign ${campaignId} runs on${still}`,
        needs:
          'have the feed carry it again, or end the campaign: list it under removed in the file',
      }
    }),
  ]
}

function stopped({ at, hint, mode, problem, since, state }: CampaignRun): CampaignCondition[] {
  if (state === 'done') return []
  if (!waitsForPerson(state) && elapsed(since, at) < PASSING_MS) return []
  // In mode `report` a person writes, and sees it then.
  const isCritical = mode === 'apply'
  const what = { campaign: null, state, hint, isCritical, mark: state }
  return [{ event: 'campaigns-stopped', reason: problem ?? state, ...what }]
}

/** One for each event and campaign. */
function joined(all: readonly OpenPoint[]): CampaignCondition[] {
  const groups = Map.groupBy(all, ({ event, key }) => JSON.stringify([event, key]))
  return [...groups.values()].flatMap((each) =>
    each.slice(0, 1).map(({ event, key, state, needs }) => ({
      ...{ event, campaign: key, state, hint: needs, isCritical: event === 'campaign-unknown' },
      reason: each.map(({ reason }) => reason).join('; '),
      mark: each.map(({ mark }) => mark).join('\n'),
    })),
  )
}

function planned({ mode, planned = [] }: CampaignRun): CampaignCondition[] {
  if (mode === 'apply' || planned.length === 0) return []
  const more = planned.length > MOST_NAMED ? ', ...' : ''
  const named = `${planned.slice(0, MOST_NAMED).join(', ')}${more}`
  const count = planned.length === 1 ? '1 change waits' : `${planned.length} changes wait`
  return [
    {
      ...{ event: 'plan-waiting', campaign: null, state: 'planned', isCritical: false },
      reason: `${count} for approval: ${named}`,
      hint: 'feedsyncd campaigns plan, then feedsyncd campaigns apply with its number',
      mark: createHash('sha256').update(planned.join('\n')).digest('hex').slice(0, 16),
    },
  ]
}

function elapsed(since: string | undefined, at: string): number {
  return since === undefined ? 0 : Date.parse(at) - Date.parse(since)
}
