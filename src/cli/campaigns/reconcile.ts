// feedsyncd campaigns plan/apply/export: the campaigns file against the service.

import type { Command } from 'commander'
import { ofCampaigns } from '../../app/queries.ts'
import type { PassResult, Wanted } from '../../campaigns/pass.ts'
import { exitCodeOf, type Plan } from '../../campaigns/plan.ts'
import { answered } from '../../campaigns/refused.ts'
import type { Config } from '../../config/config.ts'
import { isoTime } from '../../lib/clock.ts'
import { EXIT, FeedsyncError } from '../../lib/errors.ts'
import type { Context } from '../context.ts'
import { type Call, define, numberOf, usageError } from '../define.ts'
import { printable } from '../render.ts'
import { byWhom, usable } from './command.ts'
import { heldText, planText, resultText } from './plan-view.ts'

interface Options {
  yes?: boolean
  allowWiden?: string[]
}

const planId = numberOf('expected the number of a plan, such as 12')
const WIDEN = ['--allow-widen <key...>', 'entries whose targeting may lose a filter'] as const

export function planCommand(context: Context): Command {
  const text = 'what would be done to bring the service in line with the campaigns file'
  const show = define(context, 'show', 'a plan again, as it was made', async (call, id: number) =>
    tellPlan(call, keptPlanOf(call.config, id), id),
  ).argument('<number>', 'number of the plan', planId)
  return define<Options>(context, 'plan', text, async (call) => {
    const { openReconciler } = await import('../../app/campaigns.ts')
    const wanted = await wantedBy(call, call.options.allowWiden ?? [])
    await using reconciler = openReconciler(call.config, context)
    const { store } = reconciler
    const before = store.lastRun()?.at
    const by = byWhom(context, 'plan')
    const options = { kind: 'plan', approved: null, by, ...BY_PERSON } as const
    const looked = answered(await reconciler.pass(wanted, options))
    const id = store.keepPlan(looked.plan, context.clock.now())
    // For `status`, unless the daemon looked meanwhile, or a guard was passed for this plan alone.
    if (store.lastRun()?.at === before && looked.plan.allowWiden.length === 0) {
      const { keepPass } = await import('../../app/reconcile.ts')
      const { mode } = call.config.campaigns
      const at = isoTime(context.clock.now()) ?? ''
      keepPass(store, { at, cause: 'plan', mode }, looked)
    }
    tellPlan(call, looked.plan, id)
  })
    .option(...WIDEN)
    .addCommand(show)
}

function tellPlan({ context, show }: Call<unknown>, plan: Plan, id: number): void {
  show({ planId: id, ...plan }, () => planText(plan, id))
  context.exit(exitCodeOf(plan))
}

export function applyCommand(context: Context): Command {
  const text = 'do what the plan says: reductions first, and nothing that a guard holds'
  return define<Options>(context, 'apply', text, async (call, id?: number) => {
    const { yes, allowWiden = [] } = call.options
    if (id === undefined && !yes)
      throw usageError(
        'nothing was approved',
        'feedsyncd campaigns plan, then feedsyncd campaigns apply PLAN; or apply --yes',
      )
    const approved = id === undefined ? null : keptPlanOf(call.config, id)
    // An approval covers what its plan was made with, that word included.
    const wanted = await wantedBy(call, [...allowWiden, ...(approved?.allowWiden ?? [])])
    const { openReconciler } = await import('../../app/campaigns.ts')
    await using reconciler = openReconciler(call.config, context)
    // Looked at under the lock: what another process wrote before it is seen.
    await reconciler.alone(async () => {
      const cause = id === undefined ? 'apply --yes' : `apply ${id}`
      const options = { kind: 'apply', approved, by: byWhom(context, cause), ...BY_PERSON } as const
      const looked = await reconciler.pass(wanted, options)
      const { keepPass } = await import('../../app/reconcile.ts')
      const { mode } = call.config.campaigns
      const at = isoTime(context.clock.now()) ?? ''
      const { planId } = keepPass(reconciler.store, { at, cause, mode }, looked)
      tellResults(call, looked, planId)
    })
  })
    .argument(
      '[plan]',
      'number of a plan that was looked at; what changed since is refused',
      planId,
    )
    .option('--yes', 'approve what would be done now; overrides no guard')
    .option(...WIDEN)
}

function tellResults(
  { context, show }: Call<unknown>,
  looked: PassResult,
  planId: number | null,
): void {
  const { results } = looked
  const lines = results.map(resultText)
  if (looked.kind === 'failure') for (const line of lines) context.out(line)
  const { stopped, items } = answered(looked).plan
  const waiting = items.filter(({ held }) => held !== null)
  const why = stopped && `nothing is written: ${stopped.reason}; ${stopped.needs}`
  const said = [...(why === null ? [] : [why]), ...lines]
  show({ results, stopped, waiting, planId }, () => said.join('\n') || 'nothing to do')
  for (const item of waiting) context.err(heldText(item))
  const count = waiting.length === 1 ? '1 change needs' : `${waiting.length} changes need`
  if (waiting.length > 0)
    context.err(`${count} your decision: feedsyncd campaigns plan show ${planId}`)
  const isDone = results.every(({ outcome }) => ['created', 'updated', 'adopted'].includes(outcome))
  context.exit(isDone && stopped === null && waiting.length === 0 ? EXIT.ok : EXIT.notAllOk)
}

export function exportCommand(context: Context): Command {
  const text = 'the running and paused campaigns of the account as a campaigns file, on stdout'
  return define(context, 'export', text, async ({ config, show }) => {
    const { openReconciler } = await import('../../app/campaigns.ts')
    const { exportCampaigns } = await import('../../campaigns/export.ts')
    await using reconciler = openReconciler(config, context)
    const listing = answered(await reconciler.list(forever))
    const live = [...listing.campaigns.values()].filter(({ status }) => status !== 2)
    const { text: file, count, skipped } = exportCampaigns(live, reconciler.store.records())
    show({ count, skipped, file }, () => file.trimEnd())
    const isWhole = listing.kind === 'complete'
    const missing = [
      ...(isWhole ? [] : [`not all of them: ${listing.reason}`]),
      ...(skipped.length === 0
        ? []
        : [`left out, without a name that an entry can have: ${skipped.join(', ')}`]),
    ]
    for (const line of missing) context.err(printable(line))
    context.exit(missing.length > 0 ? EXIT.notAllOk : EXIT.ok)
  })
}

/** Reads the file; what is wrong with it ends the command. */
async function wantedBy(
  { context, config }: Call<Options>,
  allowWiden: readonly string[],
): Promise<Wanted> {
  const { stableCampaignsFile, wantedOf } = await import('../../app/campaigns.ts')
  const file = usable(await stableCampaignsFile(config, context.clock, forever))
  const keys = new Set(file.desired.campaigns.map(({ key }) => key))
  const stranger = allowWiden.find((key) => !keys.has(key))
  if (stranger === undefined) return wantedOf(file, new Set(allowWiden))
  throw usageError(
    `--allow-widen names ${stranger}, which is no entry of the file`,
    'name the externalCampaignId of an entry',
  )
}

/** A person stops a command by ending it. */
const forever = new AbortController().signal
const BY_PERSON = { isPerson: true, signal: forever, stop: forever }

function keptPlanOf(config: Config, id: number): Plan {
  const plan = ofCampaigns(config, (known) => known.plan(id), null)
  if (plan !== null) return plan
  throw new FeedsyncError(`there is no plan ${id}`, { hint: 'feedsyncd campaigns plan makes one' })
}
