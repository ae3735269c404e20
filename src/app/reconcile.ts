// One look at the campaigns as the daemon does it: the file, the service, the plan, and in mode `apply`
// what no guard holds. The answer is kept for `status`.

import type { CampaignState } from '../campaigns/findings.ts'
import type { PassResult } from '../campaigns/pass.ts'
import { isReady, type Plan } from '../campaigns/plan.ts'
import type { CampaignStore } from '../campaigns/port.ts'
import { type CampaignMemory, CampaignSchedule, type ScheduleParts } from '../campaigns/schedule.ts'
import type { Result } from '../campaigns/send.ts'
import type { Config } from '../config/config.ts'
import type { Transactions } from '../history/port.ts'
import { isoTime } from '../lib/clock.ts'
import { FeedsyncError, messageOf } from '../lib/errors.ts'
import type { CampaignRun } from '../ops/port.ts'
import {
  openReconciler,
  type Surroundings,
  stableCampaignsFile,
  stampOf,
  wantedOf,
} from './campaigns.ts'
import { openCampaignMemory } from './queries.ts'

interface Look {
  cause: string
  /** Nothing new is sent after it. */
  stop: AbortSignal
  /** Ends what is being sent. */
  abort: AbortSignal
}

/** In the audit: what the daemon did without being asked. */
const BY_DAEMON = 'daemon: '
const LOG = 'its log says more: journalctl -u feedsyncd'
/** What of a failed look passes without anybody, and what does not. */
const STATE_OF = {
  ...({ credentials: 'credentials', configuration: 'refused' } as const),
  ...({ refused: 'refused', missing: 'refused' } as const),
  ...({ temporary: 'failed', unreadable: 'failed' } as const),
}
const GOOD: readonly Result['outcome'][] = ['created', 'updated', 'adopted']

/** The daemon's campaigns, to be looked at when it is time. */
export function campaignScheduleOf(
  config: Config,
  parts: Surroundings &
    Pick<ScheduleParts, 'log' | 'notifyOperator'> & {
      history: Pick<Transactions, 'dataVersion'>
    },
): CampaignSchedule {
  const { file, explicit } = config.campaigns
  return new CampaignSchedule({
    ...parts,
    stamp: () => stampOf(file)?.text ?? (explicit ? 'missing' : null),
    memory: memoryOf(config, parts.history),
    look: (cause, stop, abort) => reconcile(config, parts, { cause, stop, abort }),
  })
}

/** Read only after another connection wrote, our own look's included. */
function memoryOf(config: Config, { dataVersion }: Pick<Transactions, 'dataVersion'>) {
  let changes: number | null = null
  let known: CampaignMemory = { decision: null, run: null }
  return (): CampaignMemory => {
    try {
      const now = dataVersion()
      if (now === changes) return known
      using memory = openCampaignMemory(config)
      const decision = memory?.lastDecision() ?? null
      known = {
        decision: decision === null ? null : String(decision),
        run: memory?.lastRun() ?? null,
      }
      changes = now
    } catch {
      // The database is in trouble, which the daemon says; it is asked again.
      return { decision: known.decision, run: null }
    }
    return known
  }
}

/** null: there is no campaigns file, and never was one. Throws what `openReconciler` throws. */
export async function reconcile(
  config: Config,
  surroundings: Surroundings,
  look: Look,
): Promise<CampaignRun | null> {
  const { cause, stop, abort } = look
  const { clock } = surroundings
  const file = await stableCampaignsFile(config, clock, stop)
  if (file.kind === 'off' && !isManaged(config)) return null
  stop.throwIfAborted()
  await using reconciler = openReconciler(config, surroundings)
  const { store } = reconciler
  const before = store.lastRun()
  const at = isoTime(clock.now()) ?? ''
  const looked = { at, cause, mode: config.campaigns.mode }
  const keep = (ended: Ending): CampaignRun => keepRun(store, runOf(looked, ended, before))
  if (file.kind !== 'read') {
    const count = store.records().length
    const gone = `${file.file} is gone, and ${count} ${count === 1 ? 'campaign goes' : 'campaigns go'} on as it is`
    return keep({
      ...{ state: 'unusable', problem: file.kind === 'off' ? gone : file.lines.join('; ') },
      hint: 'correct the file; until then no campaign is written, and feeds are uploaded',
    })
  }
  const wanted = wantedOf(config, file, new Set())
  try {
    return await reconciler.alone(async () => {
      const looked = await reconciler.pass(wanted, {
        ...{ kind: config.campaigns.mode, approved: null, isPerson: false },
        ...{ by: BY_DAEMON + cause, signal: abort, stop },
      })
      // A stop is no failure of the service.
      if (looked.kind === 'failure') stop.throwIfAborted()
      return keep(endingOf(store, looked, config.campaigns.mode, clock.now()))
    })
  } catch (error) {
    if (stop.aborted) throw error
    const { hint, exitCode } = error instanceof FeedsyncError ? error : { hint: LOG, exitCode: 1 }
    const state = exitCode === 75 ? 'busy' : 'failed'
    const kept = keep({ state, problem: messageOf(error), hint })
    if (exitCode !== 75) throw error
    return kept
  }
}

function isManaged(config: Config): boolean {
  using memory = openCampaignMemory(config)
  return (memory?.records().length ?? 0) > 0
}

/** For `status`: what a person's own apply did and left. Answers the number of the plan of what is left. */
export function keepApplied(
  store: CampaignStore,
  config: Pick<Config, 'campaigns'>,
  looked: Pick<CampaignRun, 'at' | 'cause'>,
  pass: PassResult,
): CampaignRun {
  const { mode } = config.campaigns
  const ended = endingOf(store, pass, mode, Date.parse(looked.at))
  return keepRun(store, runOf({ ...looked, mode }, ended, store.lastRun()))
}

type Ending = Partial<CampaignRun> & Pick<CampaignRun, 'state'>

function keepRun(store: CampaignStore, run: CampaignRun): CampaignRun {
  store.keepRun(run)
  return run
}

/** What was not looked at is as the look before had found it: what needs a person still does. */
function runOf(
  looked: Pick<CampaignRun, 'at' | 'cause' | 'mode'>,
  ended: Ending,
  before: CampaignRun | null,
): CampaignRun {
  const { at } = looked
  const { planId = null, pending = 0, planned = [], waiting = [], vanished = [] } = before ?? {}
  const { findings = [] } = before ?? {}
  const found = { planId, pending, planned, waiting, vanished, findings, ...ended }
  const sinceOf = (key: string, action: string) =>
    waiting.find((one) => one.key === key && one.action === action)?.since ?? at
  return {
    ...{ ...looked, problem: null, hint: null, done: [], ...found },
    since: before?.state === ended.state ? (before.since ?? at) : at,
    waiting: found.waiting.map((one) => ({ ...one, since: sinceOf(one.key, one.action) })),
  }
}

/** What is left after a look, and what was done. */
function endingOf(
  store: CampaignStore,
  looked: PassResult,
  mode: CampaignRun['mode'],
  now: number,
): Ending {
  const done = looked.results.flatMap(({ key, outcome }) =>
    GOOD.includes(outcome) ? [`${outcome} ${key}`] : [],
  )
  const owesReduction = looked.results.some(
    ({ isReduction, outcome }) => isReduction && !GOOD.includes(outcome),
  )
  if (looked.kind === 'failure') {
    const { reason: problem, hint } = looked
    return { state: STATE_OF[looked.class], problem, hint, done, owesReduction }
  }
  const { plan } = looked
  const planId = store.keepPlan(plan, now)
  store.keepStates(looked.campaigns)
  // Compared with the wrong account everything seems to be missing.
  if (plan.stopped !== null)
    return { state: 'stopped', planId, problem: plan.stopped.reason, hint: plan.stopped.needs }
  const apply = `feedsyncd campaigns plan show ${planId}, then: feedsyncd campaigns apply ${planId}`
  const waiting = plan.items.flatMap(({ key, held, approval, why }) => {
    if (held !== null) {
      const { code, reason, needs, passes } = held
      const action = code === 'unknown' ? code : 'held'
      return [{ key, action, code, reason, needs, passes }]
    }
    if (!approval || mode !== 'apply') return []
    return [{ key, action: 'held', code: 'approval', reason: why, needs: apply, passes: false }]
  })
  const failed = looked.results.flatMap(({ key, outcome, reason, isReduction }) =>
    GOOD.includes(outcome) || waiting.some((one) => one.key === key)
      ? []
      : [
          {
            key,
            action: outcome,
            code: outcome,
            reason,
            needs: 'feedsyncd campaigns plan',
            passes: true,
            isReduction,
          },
        ],
  )
  const ready = plan.items.filter((item) => isReady(item) && !(item.approval && mode === 'apply'))
  const planned = ready.map(({ key, action }) => `${action} ${key}`)
  const findings = plan.findings
    .filter(({ isReported }) => isReported)
    .map(({ key, campaignId, code, text, needs, maySpend }) => ({
      ...{ key, campaignId, code, reason: text, needs, maySpend },
    }))
  return {
    ...{ state: 'done', planId, done, planned, pending: planned.length, findings, owesReduction },
    ...{ waiting: [...waiting, ...failed], vanished: vanishedOf(plan, looked.campaigns) },
  }
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
