// feedsyncd campaigns plan/apply/status/history/adopt/resolve: the campaigns file against the service.

import { Command, InvalidArgumentError } from 'commander'
import type { CampaignsFile, Reconciler } from '../app-campaigns.ts'
import type { Result } from '../campaigns/apply.ts'
import { exitCodeOf, type Plan } from '../campaigns/plan.ts'
import type { View, Wanted } from '../campaigns/reconciler.ts'
import type { Config } from '../config/config.ts'
import { isoTime } from '../lib/clock.ts'
import { FeedsyncError } from '../lib/errors.ts'
import { planText, resultText } from './campaigns-plan-view.ts'
import { failureError } from './campaigns-view.ts'
import { ConfigProblems, type Context, outJson, readConfig } from './context.ts'
import { EXIT } from './exit-codes.ts'

interface Options {
  config?: string
  json?: boolean
  yes?: boolean
  allowWiden?: string[]
}

export function reconcileCommands(context: Context): Command[] {
  return [planCommand(context), applyCommand(context)]
}

function planCommand(context: Context): Command {
  return new Command('plan')
    .description('what would be done to bring the service in line with the campaigns file')
    .option('--allow-widen <key...>', 'entries whose targeting may lose a filter')
    .option('--json', 'the plan as JSON')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      await using session = await open(context, options)
      const { reconciler } = session
      const view = await session.look()
      const plan = view.plan()
      const { keptPlan } = await import('../app-reconcile.ts')
      const id = keptPlan(reconciler.store, plan, context.clock.now())
      if (options.json) outJson(context, { planId: id, ...plan })
      else context.out(planText(plan, id))
      context.exit(exitCodeOf(plan))
    })
}

function applyCommand(context: Context): Command {
  return new Command('apply')
    .description('do what the plan says: reductions first, and nothing that a guard holds')
    .argument(
      '[plan]',
      'the number of a plan that was looked at; what changed since is refused',
      planId,
    )
    .option('--yes', 'approve what would be done now')
    .option('--allow-widen <key...>', 'entries whose targeting may lose a filter')
    .option('--json', 'the results as JSON')
    .action(async (id: number | undefined, _options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      if (id === undefined && !options.yes)
        throw new FeedsyncError('nothing was approved', {
          hint: 'feedsyncd campaigns plan, then feedsyncd campaigns apply PLAN; or apply --yes',
          exitCode: EXIT.usage,
        })
      await using session = await open(context, options)
      const { reconciler, wanted, signal } = session
      const approved = id === undefined ? null : approvedPlan(reconciler, id)
      const cause = id === undefined ? 'apply --yes' : `apply ${id}`
      // Looked at under the lock: what another process wrote before it is seen.
      await reconciler.alone(async () => {
        const view = await session.look()
        const results = await reconciler.apply(wanted, view, { approved, cause, signal })
        const { keepApplied } = await import('../app-reconcile.ts')
        const at = isoTime(context.clock.now()) ?? ''
        const run = { at, cause, planId: id ?? null }
        keepApplied(reconciler.store, session.config, run, view, results)
        tell(context, options, results, view.plan())
      })
    })
}

function tell(context: Context, options: Options, results: Result[], left: Plan): void {
  const waiting = left.items.filter(({ action }) => action === 'blocked' || action === 'unknown')
  const { stopped } = left
  if (options.json) outJson(context, { results, stopped, waiting })
  else {
    if (stopped !== null) context.out(`stopped, nothing is written: ${stopped}`)
    for (const result of results) context.out(resultText(result))
    if (stopped === null && results.length === 0) context.out('nothing to do')
    if (waiting.length > 0)
      context.err(`${waiting.length} wait for a person; feedsyncd campaigns plan says why`)
  }
  const good = results.every(({ outcome }) => GOOD.includes(outcome))
  context.exit(good && stopped === null && waiting.length === 0 ? EXIT.ok : EXIT.notAllOk)
}

const GOOD: readonly Result['outcome'][] = ['created', 'updated', 'adopted']

interface Session extends AsyncDisposable {
  reconciler: Reconciler
  config: Config
  wanted: Wanted
  signal: AbortSignal
  /** Looks at the service; throws `FeedsyncError` when it cannot. */
  look(): Promise<View>
}

/** Reads the file; what is wrong with it ends the command. */
async function open(context: Context, options: Options): Promise<Session> {
  const config = readConfig(context, options.config)
  const { openReconciler, readCampaignsFile } = await import('../app-campaigns.ts')
  const { desired, fileSha256 } = usable(readCampaignsFile(config))
  const allowWiden = new Set(options.allowWiden)
  const stranger = [...allowWiden].find((key) => desired.campaigns.every((one) => one.key !== key))
  if (stranger !== undefined)
    throw new FeedsyncError(`--allow-widen names ${stranger}, which is no entry of the file`, {
      hint: 'name the externalCampaignId of an entry',
      exitCode: EXIT.usage,
    })
  const wanted = { desired, fileSha256, allowWiden }
  const { signal } = new AbortController()
  await using stack = new AsyncDisposableStack()
  const reconciler = stack.use(openReconciler(config, context))
  const disposal = stack.move()
  return {
    ...{ config, reconciler, wanted, signal },
    look: async () => {
      const view = await reconciler.look(wanted, signal)
      if (view.kind === 'failure') throw failureError(view)
      return view
    },
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
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
        hint: 'write one; config/campaigns.example.yaml shows how',
        exitCode: EXIT.config,
      })
    default:
      return read satisfies never
  }
}

function approvedPlan({ store }: Reconciler, id: number): Plan {
  const text = store.plan(id)
  if (text !== null) return JSON.parse(text) as Plan
  throw new FeedsyncError(`there is no plan ${id}`, { hint: 'feedsyncd campaigns plan makes one' })
}

function planId(text: string): number {
  if (!/^[1-9]\d*$/.test(text))
    throw new InvalidArgumentError('expected the number of a plan, such as 12.')
  return Number(text)
}
