// feedsyncd campaigns plan/apply/export: the campaigns file against the service.

import { Command, InvalidArgumentError } from 'commander'
import type { CampaignsFile, Reconciler } from '../../app/campaigns.ts'
import type { Looked, Wanted } from '../../campaigns/pass.ts'
import { exitCodeOf, type Plan } from '../../campaigns/plan.ts'
import type { Result } from '../../campaigns/send.ts'
import type { Config } from '../../config/config.ts'
import { isoTime } from '../../lib/clock.ts'
import { FeedsyncError } from '../../lib/errors.ts'
import { ConfigProblems, type Context, outJson, readConfig } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import { printable } from '../render.ts'
import { byWhom } from './decide.ts'
import { planText, resultText } from './plan-view.ts'
import { failureError } from './view.ts'

interface Options {
  config?: string
  json?: boolean
  yes?: boolean
  allowWiden?: string[]
}

export function reconcileCommands(context: Context): Command[] {
  return [planCommand(context), applyCommand(context), exportCommand(context)]
}

function planCommand(context: Context): Command {
  const show = new Command('show')
    .description('a plan again, as it was made')
    .argument('<number>', 'number of the plan', planId)
    .option('--json', 'the plan as JSON')
    .action(async (id: number, _options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const { openCampaignMemory } = await import('../../app/tools.ts')
      using memory = openCampaignMemory(readConfig(context, options.config))
      tellPlan(context, options, approvedPlan(memory, id), id)
    })
  return new Command('plan')
    .description('what would be done to bring the service in line with the campaigns file')
    .option('--allow-widen <key...>', 'entries whose targeting may lose a filter')
    .option('--json', 'the plan as JSON')
    .addHelpText('after', '\nExample: feedsyncd campaigns plan, then feedsyncd campaigns apply 12')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      await using session = await open(context, options, new Set(options.allowWiden))
      const looked = await session.look('plan', null, '')
      if (looked.kind === 'failure') throw failureError(looked)
      const { keptPlan } = await import('../../app/reconcile.ts')
      const id = keptPlan(session.reconciler.store, looked.plan, context.clock.now())
      tellPlan(context, options, looked.plan, id)
    })
    .addCommand(show)
}

function tellPlan(context: Context, options: Options, plan: Plan, id: number): void {
  if (options.json) outJson(context, { planId: id, ...plan })
  else context.out(planText(plan, id))
  context.exit(exitCodeOf(plan))
}

function applyCommand(context: Context): Command {
  return new Command('apply')
    .description('do what the plan says: reductions first, and nothing that a guard holds')
    .argument(
      '[plan]',
      'the number of a plan that was looked at; what changed since is refused',
      planId,
    )
    .option('--yes', 'approve what would be done now; overrides no guard')
    .option('--allow-widen <key...>', 'entries whose targeting may lose a filter')
    .option('--json', 'the results as JSON')
    .addHelpText('after', '\nExample: feedsyncd campaigns apply 12')
    .action(async (id: number | undefined, _options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      if (id === undefined && !options.yes)
        throw new FeedsyncError('nothing was approved', {
          hint: 'feedsyncd campaigns plan, then feedsyncd campaigns apply PLAN; or apply --yes',
          exitCode: EXIT.usage,
        })
      const approved = id === undefined ? null : await keptPlanOf(context, options, id)
      // An approval covers what its plan was made with, that word included.
      const allowWiden = new Set([...(options.allowWiden ?? []), ...(approved?.allowWiden ?? [])])
      await using session = await open(context, options, allowWiden)
      const { reconciler, config } = session
      // Looked at under the lock: what another process wrote before it is seen.
      await reconciler.alone(async () => {
        const cause = id === undefined ? 'apply --yes' : `apply ${id}`
        const looked = await session.look('apply', approved, cause)
        const { keepApplied } = await import('../../app/reconcile.ts')
        const at = isoTime(context.clock.now()) ?? ''
        const { planId } = keepApplied(reconciler.store, config, { at, cause }, looked)
        tellResults(context, options, looked, planId)
      })
    })
}

function tellResults(
  context: Context,
  options: Options,
  looked: Looked,
  planId: number | null,
): void {
  const { results } = looked
  const isGood = results.every(({ outcome }) => GOOD.includes(outcome))
  if (looked.kind === 'failure') {
    for (const result of results) context.out(resultText(result))
    throw failureError(looked)
  }
  const { stopped, items } = looked.plan
  const waiting = items.filter(({ held }) => held !== null)
  if (options.json) outJson(context, { results, stopped, waiting, planId })
  else {
    if (stopped !== null) context.out(`nothing is written: ${stopped.reason}; ${stopped.needs}`)
    for (const result of results) context.out(resultText(result))
    if (stopped === null && results.length === 0) context.out('nothing to do')
    const count = waiting.length === 1 ? '1 change needs' : `${waiting.length} changes need`
    if (waiting.length > 0)
      context.err(`${count} your decision: feedsyncd campaigns plan show ${planId}`)
  }
  context.exit(isGood && stopped === null && waiting.length === 0 ? EXIT.ok : EXIT.notAllOk)
}

const GOOD: readonly Result['outcome'][] = ['created', 'updated', 'adopted']

function exportCommand(context: Context): Command {
  return new Command('export')
    .description('the running campaigns of the account as a campaigns file, on stdout')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample: feedsyncd campaigns export > campaigns.yaml')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const config = readConfig(context, options.config)
      const { openReconciler } = await import('../../app/campaigns.ts')
      const { exportCampaigns } = await import('../../campaigns/export.ts')
      await using reconciler = openReconciler(config, context)
      const listing = await reconciler.list(new AbortController().signal)
      if (listing.kind === 'failure') throw failureError(listing)
      const live = [...listing.campaigns.values()].filter(({ status }) => status !== 2)
      const { text, count, skipped } = exportCampaigns(live, reconciler.store.records())
      if (options.json) outJson(context, { count, skipped, file: text })
      else context.out(text.trimEnd())
      if (listing.kind === 'incomplete')
        context.err(printable(`not all of them: ${listing.reason}`))
      if (skipped.length > 0)
        context.err(
          printable(`left out, without a name that an entry can have: ${skipped.join(', ')}`),
        )
      context.exit(listing.kind === 'incomplete' || skipped.length > 0 ? EXIT.notAllOk : EXIT.ok)
    })
}

interface Session extends AsyncDisposable {
  reconciler: Reconciler
  config: Config
  look(kind: 'plan' | 'apply', approved: Plan | null, cause: string): Promise<Looked>
}

/** Reads the file; what is wrong with it ends the command. */
async function open(
  context: Context,
  options: Options,
  allowWiden: ReadonlySet<string>,
): Promise<Session> {
  const config = readConfig(context, options.config)
  const { openReconciler, restedCampaignsFile, wantedOf } = await import('../../app/campaigns.ts')
  const { signal } = new AbortController()
  const file = usable(await restedCampaignsFile(config, context.clock, signal))
  const stranger = [...allowWiden].find((key) =>
    file.desired.campaigns.every((one) => one.key !== key),
  )
  if (stranger !== undefined)
    throw new FeedsyncError(`--allow-widen names ${stranger}, which is no entry of the file`, {
      hint: 'name the externalCampaignId of an entry',
      exitCode: EXIT.usage,
    })
  const wanted: Wanted = wantedOf(config, file, allowWiden)
  const reconciler = openReconciler(config, context)
  return {
    ...{ config, reconciler },
    look: (kind, approved, cause) =>
      reconciler.pass(wanted, {
        ...{ kind, approved, isPerson: true, by: byWhom(context, cause), signal, stop: signal },
      }),
    [Symbol.asyncDispose]: () => reconciler[Symbol.asyncDispose](),
  }
}

export function usable(read: CampaignsFile): Extract<CampaignsFile, { kind: 'read' }> {
  switch (read.kind) {
    case 'read':
      return read
    case 'unusable':
      throw new ConfigProblems(read.lines)
    case 'off':
      throw new FeedsyncError(`there is no campaigns file at ${read.file}, so none is managed`, {
        hint: 'write one: feedsyncd campaigns export shows what is there, docs/campaigns.md how',
        exitCode: EXIT.config,
      })
    default:
      return read satisfies never
  }
}

async function keptPlanOf(context: Context, options: Options, id: number): Promise<Plan> {
  const { openCampaignMemory } = await import('../../app/tools.ts')
  using memory = openCampaignMemory(readConfig(context, options.config))
  return approvedPlan(memory, id)
}

function approvedPlan(memory: { plan(id: number): string | null } | null, id: number): Plan {
  const text = memory?.plan(id) ?? null
  if (text !== null) return JSON.parse(text) as Plan
  throw new FeedsyncError(`there is no plan ${id}`, { hint: 'feedsyncd campaigns plan makes one' })
}

function planId(text: string): number {
  if (!/^[1-9]\d*$/.test(text))
    throw new InvalidArgumentError('expected the number of a plan, such as 12.')
  return Number(text)
}
