// One look at the campaigns as the daemon does it: the file, the service, the plan, and in mode `apply`
// what no guard holds. The answer is kept for `status`.

import { statSync } from 'node:fs'
import {
  openCampaignMemory,
  openReconciler,
  readCampaignsFile,
  type Surroundings,
} from './app-campaigns.ts'
import type { Result } from './campaigns/apply.ts'
import { isWritten, type Plan } from './campaigns/plan.ts'
import type { CampaignStore } from './campaigns/port.ts'
import type { View } from './campaigns/reconciler.ts'
import type { Config } from './config/config.ts'
import type { History } from './history/port.ts'
import { isoTime } from './lib/clock.ts'
import { errorCode, FeedsyncError } from './lib/errors.ts'
import { identityOf } from './lib/file-identity.ts'
import type { CampaignRun } from './ops/port.ts'
import { Reconciling, type ReconcilingParts } from './reconciling.ts'

interface Look {
  cause: string
  /** Nothing new is sent after it. */
  stop: AbortSignal
  /** Ends what is being sent. */
  abort: AbortSignal
}

/** In the audit: what the daemon did without being asked. */
const BY_DAEMON = 'daemon: '
const NOTHING = { problem: null, hint: null, planId: null, pending: 0 }
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
    decision: decisionsOf(config, parts.history),
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

/** The newest entry of the audit, unless it is the daemon's; read only after another connection wrote. */
function decisionsOf(config: Config, { foreignChanges }: Pick<History, 'foreignChanges'>) {
  let changes: number | null = null
  let last: string | null = null
  return (): string | null => {
    try {
      const now = foreignChanges()
      if (now === changes) return last
      using memory = openCampaignMemory(config)
      const [newest] = memory?.history({ limit: 1 }) ?? []
      const isOurs = newest === undefined || newest.cause.startsWith(BY_DAEMON)
      last = isOurs ? null : JSON.stringify(newest)
      changes = now
    } catch {
      // The database is in trouble, which the daemon says; it is asked again.
    }
    return last
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
  const at = isoTime(surroundings.clock.now()) ?? ''
  const run: CampaignRun = {
    ...{ at, cause, mode: config.campaigns.mode, state: 'done' },
    ...{ ...NOTHING, done: [], waiting: [] },
  }
  const keep = (found: Partial<CampaignRun>): CampaignRun => {
    const kept = { ...run, ...found }
    store.keepRun(JSON.stringify(kept))
    return kept
  }
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
        const state = view.class === 'credentials' ? 'credentials' : 'failed'
        return keep({ state, problem: view.reason, hint: view.hint })
      }
      const plan = view.plan()
      const planId = keptPlan(store, plan, surroundings.clock.now())
      const isApplied = config.campaigns.mode === 'apply' && plan.stopped === null
      const results = isApplied
        ? await reconciler.apply(wanted, view, {
            ...{ approved: null, cause: BY_DAEMON + cause, signal: abort, stop },
          })
        : []
      return keep({ planId, ...ending(view, results) })
    })
  } catch (error) {
    if (!(error instanceof FeedsyncError) || error.exitCode !== 75) throw error
    return keep({ state: 'busy', problem: error.message, hint: error.hint })
  }
}

/** For `status`: what a person's own apply did and left. */
export function keepApplied(
  store: CampaignStore,
  config: Config,
  { at, cause, planId }: Pick<CampaignRun, 'at' | 'cause' | 'planId'>,
  view: View,
  results: readonly Result[],
): void {
  const { mode } = config.campaigns
  const run = {
    ...{ at, cause, mode, state: 'done' },
    ...NOTHING,
    planId,
    ...ending(view, results),
  }
  store.keepRun(JSON.stringify(run))
}

/** What is left after a look, and what was done. */
function ending(view: View, results: readonly Result[]): Partial<CampaignRun> {
  const left = view.plan()
  const waiting = left.items
    .filter(({ action }) => action === 'blocked' || action === 'unknown')
    .map(({ key, action, reason, needs }) => ({ key, action, reason, needs }))
  const failed = results.flatMap(({ key, outcome, reason }) =>
    GOOD.includes(outcome) || waiting.some((one) => one.key === key)
      ? []
      : [{ key, action: outcome, reason, needs: 'feedsyncd campaigns plan' }],
  )
  const done = results.flatMap(({ key, outcome }) =>
    GOOD.includes(outcome) ? [`${outcome} ${key}`] : [],
  )
  const stopped =
    left.stopped === null ? {} : ({ state: 'stopped', problem: left.stopped } as const)
  const pending = left.items.filter((item) => isWritten(item) || item.action === 'adopt').length
  return { ...stopped, done, pending, waiting: [...waiting, ...failed] }
}

/** The number of the plan; one that says the same as the last is not kept again. */
export function keptPlan(store: CampaignStore, plan: Plan, at: number): number {
  const last = store.lastPlan()
  const same = ({ createdAt: _, ...rest }: Plan) => JSON.stringify(rest)
  if (last !== null && same(JSON.parse(last.plan) as Plan) === same(plan)) return last.id
  return store.keepPlan(JSON.stringify(plan), at)
}
