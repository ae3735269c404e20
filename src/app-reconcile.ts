// One look at the campaigns as the daemon does it: the file, the service, the plan, and in mode `apply`
// what no guard holds. The answer is kept for `status`.

import { statSync } from 'node:fs'
import { openReconciler, readCampaignsFile, type Surroundings } from './app-campaigns.ts'
import { keptRun, openCampaignMemory } from './app-tools.ts'
import type { Result } from './campaigns/apply.ts'
import { instant } from './campaigns/diff.ts'
import { isWritten, LATER, type Plan } from './campaigns/plan.ts'
import { type CampaignStore, STATUS } from './campaigns/port.ts'
import type { View } from './campaigns/reconciler.ts'
import type { Config } from './config/config.ts'
import type { History } from './history/port.ts'
import { isoTime } from './lib/clock.ts'
import { errorCode, FeedsyncError, messageOf } from './lib/errors.ts'
import { identityOf } from './lib/file-identity.ts'
import type { CampaignRun } from './ops/port.ts'
import { type CampaignMemory, Reconciling, type ReconcilingParts } from './reconciling.ts'

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
/** What of a failed look passes by itself, and what does not. */
const STATE_OF = {
  ...({ credentials: 'credentials', configuration: 'refused' } as const),
  ...({ refused: 'refused', missing: 'refused' } as const),
  ...({ temporary: 'failed', unreadable: 'failed' } as const),
}
const GOOD: readonly Result['outcome'][] = ['created', 'updated', 'adopted']

/** The daemon's campaigns, to be looked at when it is time. */
export function reconcilingOf(
  config: Config,
  parts: Surroundings &
    Pick<ReconcilingParts, 'log' | 'tell'> & { history: Pick<History, 'foreignChanges'> },
): Reconciling {
  return new Reconciling({
    ...parts,
    stamp: () => stampOf(config.campaigns),
    memory: memoryOf(config, parts.history),
    look: (cause, stop, abort) => reconcile(config, parts, { cause, stop, abort }),
  })
}

function stampOf({ file, explicit }: Config['campaigns']): string | null {
  try {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
    if (stats !== undefined) return JSON.stringify(identityOf(stats))
    return explicit ? 'missing' : null
  } catch (error) {
    return errorCode(error) ?? 'unreadable'
  }
}

/** Read only after another connection wrote, our own look's included. */
function memoryOf(config: Config, { foreignChanges }: Pick<History, 'foreignChanges'>) {
  let changes: number | null = null
  let known: CampaignMemory = { decision: null, run: null }
  return (): CampaignMemory => {
    try {
      const now = foreignChanges()
      if (now === changes) return known
      using memory = openCampaignMemory(config)
      const [newest] = memory?.history({ limit: 1 }) ?? []
      const isOurs = newest === undefined || newest.cause.startsWith(BY_DAEMON)
      known = { decision: isOurs ? null : JSON.stringify(newest), run: keptRun(memory) }
      changes = now
    } catch {
      // The database is in trouble, which the daemon says; it is asked again.
      return { decision: known.decision, run: null }
    }
    return known
  }
}

/** null: there is no campaigns file. Throws what `openReconciler` throws. */
export async function reconcile(
  config: Config,
  surroundings: Surroundings,
  look: Look,
): Promise<CampaignRun | null> {
  const file = readCampaignsFile(config)
  if (file.kind === 'off') return null
  await using reconciler = openReconciler(config, surroundings)
  const { store } = reconciler
  const { cause, stop, abort } = look
  const before = keptRun(store)
  const at = isoTime(surroundings.clock.now()) ?? ''
  const looked = { at, cause, mode: config.campaigns.mode }
  const keep = (ended: Ending): CampaignRun => keepRun(store, runOf(looked, ended, before))
  if (file.kind === 'unusable')
    return keep({
      ...{ state: 'unusable', problem: file.lines.join('; ') },
      hint: 'mend the file; until then no campaign is written, and feeds are uploaded',
    })
  const { desired, fileSha256 } = file
  const wanted = { desired, fileSha256, allowWiden: new Set<string>() }
  try {
    return await reconciler.alone(async () => {
      const view = await reconciler.look(wanted, stop)
      if (view.kind === 'failure') {
        // A stop is no failure of the service.
        stop.throwIfAborted()
        return keep({ state: STATE_OF[view.class], problem: view.reason, hint: view.hint })
      }
      const plan = view.plan()
      const planId = keptPlan(store, plan, surroundings.clock.now())
      const isApplied = config.campaigns.mode === 'apply' && plan.stopped === null
      const results = isApplied
        ? await reconciler.apply(wanted, view, {
            ...{ approved: null, cause: BY_DAEMON + cause, signal: abort, stop },
          })
        : []
      return keep({ planId, ...ending(store, view, results, at) })
    })
  } catch (error) {
    if (stop.aborted) throw error
    const { hint, exitCode } = error instanceof FeedsyncError ? error : { hint: LOG, exitCode: 1 }
    const kept = keep({
      state: exitCode === 75 ? 'busy' : 'failed',
      problem: messageOf(error),
      hint,
    })
    if (exitCode !== 75) throw error
    return kept
  }
}

/** For `status`: what a person's own apply did and left. */
export function keepApplied(
  store: CampaignStore,
  config: Config,
  looked: Pick<CampaignRun, 'at' | 'cause' | 'planId'>,
  view: View,
  results: readonly Result[],
): void {
  const { mode } = config.campaigns
  const ended = { planId: looked.planId, ...ending(store, view, results, looked.at) }
  keepRun(store, runOf({ ...looked, mode }, ended, keptRun(store)))
}

type Ending = Partial<CampaignRun> & Pick<CampaignRun, 'state'>

function keepRun(store: CampaignStore, run: CampaignRun): CampaignRun {
  store.keepRun(JSON.stringify(run))
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
  const found = { planId, pending, planned, waiting, vanished, ...ended }
  const sinceOf = (key: string, action: string) =>
    waiting.find((one) => one.key === key && one.action === action)?.since ?? at
  return {
    ...{ ...looked, problem: null, hint: null, done: [], ...found },
    since: before?.state === ended.state ? (before.since ?? at) : at,
    waiting: found.waiting.map((one) => ({ ...one, since: sinceOf(one.key, one.action) })),
  }
}

/** What is left after a look, and what was done. */
function ending(store: CampaignStore, view: View, results: readonly Result[], at: string): Ending {
  const left = view.plan()
  // Compared with the wrong account or with half a file, everything seems to be missing.
  if (left.stopped !== null) {
    // It says what is wrong and, after the last semicolon, what to do.
    const at = left.stopped.lastIndexOf('; ')
    const [problem, hint] = [left.stopped.slice(0, at), left.stopped.slice(at + 2)]
    return { state: 'stopped', problem, hint }
  }
  const waiting = left.items
    .filter(({ action }) => action === 'blocked' || action === 'unknown')
    .map(({ key, action, reason, needs }) => {
      return { key, action, reason, needs, passes: needs === LATER }
    })
  const failed = results.flatMap(({ key, outcome, reason }) =>
    GOOD.includes(outcome) || waiting.some((one) => one.key === key)
      ? []
      : [{ key, action: outcome, reason, needs: 'feedsyncd campaigns plan', passes: true }],
  )
  const done = results.flatMap(({ key, outcome }) =>
    GOOD.includes(outcome) ? [`${outcome} ${key}`] : [],
  )
  const planned = left.items
    .filter((item) => isWritten(item) || item.action === 'adopt')
    .map(({ key, action }) => `${action} ${key}`)
  const pending = planned.length
  const vanished = vanishedOf(store, view, left, Date.parse(at))
  return { state: 'done', done, pending, planned, waiting: [...waiting, ...failed], vanished }
}

/** Those whose campaign runs on. */
function vanishedOf(store: CampaignStore, { remote }: View, { feed }: Plan, now: number) {
  return feed.gone.flatMap(({ key, kind, uploads, pinned }) => {
    const campaignId = kind === 'vanished' ? store.record(key)?.campaignId : undefined
    const campaign = campaignId === undefined ? undefined : remote.get(campaignId)
    if (campaignId === undefined || campaign === undefined) return []
    const { status = null, endDate = null } = campaign
    const isOver = endDate !== null && instant(endDate) <= now
    if (isOver || (status !== null && status !== STATUS.running)) return []
    return [{ key, campaignId, uploads, pinned }]
  })
}

/** The number of the plan; one that says the same as the last is not kept again. */
export function keptPlan(store: CampaignStore, plan: Plan, at: number): number {
  const last = store.lastPlan()
  const same = ({ createdAt: _, ...rest }: Plan) => JSON.stringify(rest)
  if (last !== null && same(JSON.parse(last.plan) as Plan) === same(plan)) return last.id
  return store.keepPlan(JSON.stringify(plan), at)
}
