// One look at the campaigns as the daemon does it: the file, the service, the plan, and in mode `apply`
// what no guard holds. The answer is kept for `status`.

import type { CampaignState } from '../campaigns/findings.ts'
import type { PassResult } from '../campaigns/pass.ts'
import { isReady, type Plan, type PlanItem } from '../campaigns/plan.ts'
import type { CampaignStore } from '../campaigns/port.ts'
import { type CampaignMemory, CampaignSchedule, type ScheduleParts } from '../campaigns/schedule.ts'
import type { Result } from '../campaigns/send.ts'
import type { Config, Settings } from '../config/config.ts'
import type { CampaignReader } from '../history/campaign-store.ts'
import type { Transactions } from '../history/port.ts'
import { isoTime, MINUTE } from '../lib/clock.ts'
import { isRecent } from '../lib/due.ts'
import { EXIT, FeedsyncError, messageOf } from '../lib/errors.ts'
import { limited } from '../lib/limited.ts'
import type { CampaignRun, WaitingCampaign } from '../ops/port.ts'
import {
  contentStampOf,
  openReconciler,
  type Surroundings,
  stableCampaignsFile,
  wantedOf,
} from './campaigns.ts'
import { ofCampaigns } from './queries.ts'

/** In the audit: what the daemon did without being asked. */
const BY_DAEMON = 'daemon: '
const LOG = 'its log says more: journalctl -u feedsyncd'
/** What of a failed look passes without anybody, and what does not. */
const STATE_OF = {
  ...({ credentials: 'credentials', configuration: 'refused' } as const),
  ...({ refused: 'refused', missing: 'refused' } as const),
  ...({ temporary: 'failed', unreadable: 'failed' } as const),
}
/** A file may have a mistake in each of its lines; `plan` names all of them. */
const MOST_LINES = 20
const GOOD: readonly Result['outcome'][] = ['created', 'updated', 'adopted']

/** The daemon's campaigns, to be looked at when it is time. */
export function campaignScheduleOf(
  settings: Settings,
  parts: Surroundings &
    Pick<ScheduleParts, 'log' | 'notifyOperator'> & {
      history: Pick<Transactions, 'dataVersion'>
    },
): CampaignSchedule {
  const config = settings.current
  const { file, explicit } = config.campaigns
  const stamp = contentStampOf(file)
  return new CampaignSchedule({
    ...parts,
    stamp: () => stamp() ?? (explicit ? 'missing' : null),
    memory: memoryOf(config, parts.history),
    // What it reads of the uploads is as the rules of this moment say.
    look: (...why) => reconcile(settings.current, parts, ...why),
  })
}

const NOTHING_KNOWN: CampaignMemory = { decision: null, run: null }

/** Read only after another connection wrote, our own look's included. */
function memoryOf(config: Config, { dataVersion }: Pick<Transactions, 'dataVersion'>) {
  let changes: number | null = null
  let memory = NOTHING_KNOWN
  const read = (known: CampaignReader): CampaignMemory => ({
    ...{ decision: known.lastDecision()?.toString() ?? null, run: known.lastRun() },
  })
  return (): CampaignMemory => {
    try {
      const now = dataVersion()
      if (now !== changes) memory = ofCampaigns(config, read, NOTHING_KNOWN)
      changes = now
      return memory
    } catch {
      // The database is in trouble, which the daemon says; it is asked again.
      return { ...memory, run: null }
    }
  }
}

/**
 * Nothing new is sent after `stop`; `abort` ends what is being sent. null: there is no campaigns file, and never was
 * one. Throws what `openReconciler` throws.
 */
async function reconcile(
  config: Config,
  surroundings: Surroundings,
  cause: string,
  stop: AbortSignal,
  abort: AbortSignal,
): Promise<CampaignRun | null> {
  const { clock } = surroundings
  const file = await stableCampaignsFile(config, clock, stop)
  const count =
    file.kind === 'off' ? ofCampaigns(config, (known) => known.records().length, 0) : null
  if (count === 0) return null
  stop.throwIfAborted()
  await using reconciler = openReconciler(config, surroundings)
  const { store } = reconciler
  const { mode } = config.campaigns
  const looked = { at: isoTime(clock.now()) ?? '', cause, mode }
  if (file.kind !== 'read') {
    const gone = `${file.file} is gone, and ${count} ${count === 1 ? 'campaign goes' : 'campaigns go'} on as it is`
    return keepRun(store, looked, {
      ...{
        state: 'unusable',
        problem: file.kind === 'off' ? gone : limited(file.lines, MOST_LINES).join('; '),
      },
      hint: `${file.kind === 'off' ? 'put it back' : 'correct the file'}; until then no campaign is written, and feeds are uploaded`,
    })
  }
  const wanted = wantedOf(file)
  try {
    return await reconciler.alone(async () => {
      const pass = await reconciler.pass(wanted, {
        ...{ kind: mode, approved: null, isPerson: false },
        ...{ by: BY_DAEMON + cause, signal: abort, stop },
      })
      // A stop is no failure of the service.
      if (pass.kind === 'failure') stop.throwIfAborted()
      return keepPass(store, looked, pass)
    })
  } catch (error) {
    if (stop.aborted) throw error
    const { hint, exitCode } = error instanceof FeedsyncError ? error : { hint: LOG, exitCode: 1 }
    const state = exitCode === EXIT.temporary ? 'busy' : 'failed'
    const kept = keepRun(store, looked, { state, problem: messageOf(error), hint })
    if (exitCode !== EXIT.temporary) throw error
    return kept
  }
}

type Looked = Pick<CampaignRun, 'at' | 'cause' | 'mode'>
type Ending = Partial<CampaignRun> & Pick<CampaignRun, 'state'>

const NOTHING_FOUND = {
  planId: null,
  pending: 0,
  planned: [],
  waiting: [],
  vanished: [],
  findings: [],
}
/** A write without an answer is looked for that long, also when a later one took its place. */
const LATE_MS = 15 * MINUTE
const NOTHING_DONE = { problem: null, hint: null, done: [], owesReduction: false }

/** What was not looked at is as the look before had found it: what needs a person still does. */
function keepRun(store: CampaignStore, looked: Looked, ended: Ending): CampaignRun {
  const { at } = looked
  const before = store.lastRun()
  const found = { ...NOTHING_FOUND, ...before, ...looked, ...NOTHING_DONE, ...ended }
  const sinceOf = (key: string, action: string) =>
    before?.waiting.find((one) => one.key === key && one.action === action)?.since ?? at
  const run = {
    ...found,
    since: before?.state === ended.state ? (before.since ?? at) : at,
    waiting: found.waiting.map((one) => ({ ...one, since: sinceOf(one.key, one.action) })),
  }
  store.keepRun(run)
  return run
}

/** For `status`: what a pass of the daemon or of a person did, and what it left. */
export function keepPass(store: CampaignStore, looked: Looked, pass: PassResult): CampaignRun {
  const left = pass.results.filter(({ outcome }) => !GOOD.includes(outcome))
  const good = pass.results.filter(({ outcome }) => GOOD.includes(outcome))
  const done = good.map(({ key, outcome }) => `${outcome} ${key}`)
  const now = Date.parse(looked.at)
  const mayArrive = store
    .open()
    .some(({ action, at }) => action === 'update' && isRecent(at, now, LATE_MS))
  const owesReduction = mayArrive || left.some(({ isReduction }) => isReduction)
  if (pass.kind === 'failure') {
    const { reason: problem, hint } = pass
    const state = STATE_OF[pass.class]
    return keepRun(store, looked, { state, problem, hint, done, owesReduction })
  }
  const { plan, campaigns } = pass
  const { stopped } = plan
  const planId = store.keepPlan(plan, now)
  store.keepStates(campaigns)
  // Compared with the wrong account everything seems to be missing.
  if (stopped !== null) {
    const { reason: problem, needs: hint } = stopped
    return keepRun(store, looked, { state: 'stopped', planId, problem, hint })
  }
  const isApproved = ({ approval }: PlanItem) => !approval || looked.mode !== 'apply'
  const apply = `feedsyncd campaigns plan show ${planId}, then: feedsyncd campaigns apply ${planId}`
  const waiting = plan.items.flatMap((item): WaitingCampaign[] => {
    const { key, held, why } = item
    if (held !== null) {
      const { code, cause, ...rest } = held
      const action = code === 'unknown' ? code : 'held'
      return [{ ...rest, key, action, code: cause === '' ? code : `${code} ${cause}` }]
    }
    if (isApproved(item)) return []
    return [{ key, action: 'held', code: 'approval', reason: why, needs: apply, passes: false }]
  })
  const failed = left
    .filter(({ key }) => !waiting.some((one) => one.key === key))
    .map(({ key, outcome, reason, isReduction }) => ({
      ...{ key, action: outcome, code: outcome, reason, isReduction, passes: true },
      needs: 'feedsyncd campaigns plan',
    }))
  const ready = plan.items.filter((item) => isReady(item) && isApproved(item))
  const planned = ready.map(({ key, action }) => `${action} ${key}`)
  const findings = plan.findings
    .filter(({ isReported }) => isReported)
    .map(({ isReported: _, text: reason, ...finding }) => ({ ...finding, reason }))
  return keepRun(store, looked, {
    ...{ state: 'done', planId, done, planned, pending: planned.length, findings, owesReduction },
    ...{ waiting: [...waiting, ...failed], vanished: vanishedOf(plan, campaigns) },
  })
}

/** Those whose campaign runs on. */
function vanishedOf({ feed }: Plan, campaigns: readonly CampaignState[]) {
  const ids = new Map(
    campaigns.flatMap(({ key, campaignId, runs }) => (runs ? [[key, campaignId]] : [])),
  )
  return feed.gone.flatMap(({ key, kind, uploads, pinned }) => {
    const campaignId = kind === 'vanished' ? ids.get(key) : undefined
    return campaignId === undefined ? [] : [{ key, campaignId, uploads, pinned }]
  })
}
