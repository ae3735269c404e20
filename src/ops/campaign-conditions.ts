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
  return [
    ...stopped(run),
    ...joined([...waiting(run), ...found(run)]),
    ...vanished(run),
    ...planned(run),
  ]
}

/** How many things need a person now, or may soon: for people who look, who are told of no grace. */
export function waitingCampaigns(run: CampaignRun | null): number {
  if (run === null) return 0
  const { state, vanished = [], waiting, findings = [] } = run
  const keys = new Set([...waiting, ...findings, ...vanished].map(({ key }) => key))
  return keys.size + Number(waitsForPerson(state))
}

function stopped({ at, hint, mode, problem, since, state }: CampaignRun): CampaignCondition[] {
  if (state === 'done') return []
  if (!waitsForPerson(state) && elapsed(since, at) < PASSING_MS) return []
  // In mode `report` a person writes, and sees it then.
  const isCritical = mode === 'apply'
  const what = { campaign: null, state, hint, isCritical, mark: state }
  return [{ event: 'campaigns-stopped', reason: problem ?? state, ...what }]
}

function waiting({ at, waiting }: CampaignRun): CampaignCondition[] {
  return waiting.flatMap(({ key, action, reason, needs, passes, since }) => {
    const isUnknown = action === 'unknown'
    const grace = isUnknown ? UNKNOWN_MS : passes ? PASSING_MS : 0
    if (elapsed(since, at) < grace) return []
    const why = reason ?? 'it was not done'
    return {
      event: isUnknown ? 'campaign-unknown' : 'campaign-waiting',
      ...{ campaign: key, state: action, reason: why, hint: needs, isCritical: isUnknown },
      // Counts, budgets and times in it move with every look, and say nothing new.
      mark: isUnknown ? '' : `${action} ${why.replace(/\d+/g, '#')}`,
    }
  })
}

/** What differs from the file, or spends outside it. */
function found({ findings = [] }: CampaignRun): CampaignCondition[] {
  return findings.map(({ key, code, reason, needs }) => ({
    ...{ event: 'campaign-waiting', campaign: key, state: code, reason, hint: needs },
    ...{ isCritical: false, mark: `${code} ${reason.replace(/\d+/g, '#')}` },
  }))
}

/** One for each event and campaign. */
function joined(all: readonly CampaignCondition[]): CampaignCondition[] {
  const groups = Map.groupBy(all, ({ event, campaign }) => JSON.stringify([event, campaign]))
  return [...groups.values()].flatMap(([first, ...more]) => {
    if (first === undefined) return []
    const each = [first, ...more]
    const reason = each.map((one) => one.reason).join('; ')
    return { ...first, reason, mark: each.map(({ mark }) => mark).join('\n') }
  })
}

function vanished({ vanished = [] }: CampaignRun): CampaignCondition[] {
  return vanished.map((one) => ({
    ...{ event: 'campaign-vanished', campaign: one.key, state: 'vanished', isCritical: false },
    ...{ reason: vanishedReason(one), hint: VANISHED_HINT, mark: one.campaignId },
  }))
}

type Vanished = NonNullable<CampaignRun['vanished']>[number]

export function vanishedReason({ campaignId, uploads, pinned }: Omit<Vanished, 'key'>): string {
  const still = pinned === 0 ? '' : `; its ${pinned} pinned requisitions may still spend`
  return `the last ${uploads} uploads do not carry it, and campaign ${campaignId} runs on${still}`
}

export const VANISHED_HINT =
  'have the feed carry it again, or end the campaign: list it under removed in the file'

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
