// feedsyncd campaigns adopt/resolve/forget, and create KEY --new: what a person says about one campaign.

import { userInfo } from 'node:os'
import { Command } from 'commander'
import type { Reconciler } from '../../app/campaigns.ts'
import { keptRun } from '../../app/tools.ts'
import type { Decider, Decision, Refusal } from '../../campaigns/decide.ts'
import { FeedsyncError } from '../../lib/errors.ts'
import type { CampaignFailure } from '../../service/port.ts'
import { type Context, outJson, readConfig } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import { printable, table } from '../render.ts'
import { failureError } from './view.ts'

interface Options {
  config?: string
  json?: boolean
  marked?: boolean
  yes?: boolean
  adopt?: string
  notCreated?: boolean
  recreate?: boolean
  revert?: boolean
  accept?: boolean
  checked?: boolean
}

export function decideCommands(context: Context): Command[] {
  return [adoptCommand(context), resolveCommand(context), forgetCommand(context)]
}

function adoptCommand(context: Context): Command {
  return new Command('adopt')
    .description('say that an existing campaign belongs to an entry; nothing is written to it')
    .argument('[key]', 'external campaign id of the entry')
    .argument('[id]', "the service's id of the campaign")
    .option('--marked', 'all campaigns that carry the mark of an entry; shows them first')
    .option('--yes', 'with --marked: adopt what it shows')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample: feedsyncd campaigns adopt NUR-Q1 48211')
    .action(async (key: string | undefined, id: string | undefined, _options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      if (options.marked && key === undefined) return adoptMarked(context, options)
      if (key === undefined || id === undefined)
        throw new FeedsyncError('name the entry and the campaign, or --marked', {
          hint: 'feedsyncd campaigns adopt NUR-Q1 48211',
          exitCode: EXIT.usage,
        })
      await decide(context, options, `adopt ${key} ${id}`, (decider) => decider.adopt(key, id))
    })
}

async function adoptMarked(context: Context, options: Options): Promise<void> {
  await withDecider(context, options, 'adopt --marked', async (decider) => {
    const found = await decider.marked()
    if (found.kind !== 'found') throw errorOf(found)
    const pairs = found.pairs.map(({ key, campaign }) => ({
      key,
      id: campaign.id,
      name: campaign.name ?? null,
    }))
    if (options.yes) decider.adoptAll(found.pairs)
    if (options.json) outJson(context, { adopted: options.yes === true, campaigns: pairs })
    else if (pairs.length === 0)
      context.out('no campaign carries the mark of an entry that has none')
    else {
      context.out(
        table(
          ['key', 'id', 'name'],
          pairs.map((one) => [one.key, one.id, one.name]),
          null,
        ),
      )
      context.out(
        options.yes
          ? `${pairs.length} adopted`
          : 'to adopt them: feedsyncd campaigns adopt --marked --yes',
      )
    }
    context.exit(EXIT.ok)
  })
}

function resolveCommand(context: Context): Command {
  return new Command('resolve')
    .description('decide about a difference, a doubt, or a create whose outcome is not known')
    .argument('<key>', 'external campaign id of the entry')
    .option('--revert', 'what was changed on the service is written again as in the file')
    .option('--accept', 'what was changed on the service may stay so')
    .option('--checked', 'a campaign in doubt was looked at; it may be raised again')
    .option('--adopt <id>', 'as adopt KEY ID')
    .option('--not-created', 'as create KEY --new')
    .option('--recreate', 'as create KEY --new')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample: feedsyncd campaigns resolve NUR-Q1 --accept')
    .action(async (key: string, _options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const { adopt, notCreated, recreate, revert, accept, checked } = options
      const said = Object.entries({ adopt, notCreated, recreate, revert, accept, checked })
      const [chosen, another] = said.filter(([, value]) => value !== undefined)
      if (chosen === undefined || another !== undefined)
        throw new FeedsyncError(
          'say one of --revert, --accept, --checked, --adopt ID, --not-created and --recreate',
          {
            hint: 'feedsyncd campaigns status tells which one fits',
            exitCode: EXIT.usage,
          },
        )
      await decide(context, options, `resolve ${key} --${chosen[0]}`, (decider) => {
        if (adopt !== undefined) return decider.adopt(key, adopt)
        if (checked) return decider.checked(key)
        if (revert || accept) return decider.settle(key, revert ? 'revert' : 'accept')
        return decider.isNew(key)
      })
    })
}

function forgetCommand(context: Context): Command {
  return new Command('forget')
    .description('let a campaign go: it belongs to no entry any more, and nothing is written to it')
    .argument(
      '<key>',
      "external campaign id of the entry, or the service's id of a campaign in no entry",
    )
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample: feedsyncd campaigns forget NUR-Q1')
    .action(async (key: string, _options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      await decide(context, options, `forget ${key}`, (decider) => decider.forget(key))
    })
}

/** `create KEY --new`. */
export async function sayNew(
  context: Context,
  options: Pick<Options, 'config' | 'json'>,
  key: string,
): Promise<void> {
  await decide(context, options, `create ${key} --new`, (decider) => decider.isNew(key))
}

async function decide(
  context: Context,
  options: Options,
  command: string,
  work: (decider: Decider) => Decision | Promise<Decision>,
): Promise<void> {
  await withDecider(context, options, command, async (decider, { store }) => {
    const decision = await work(decider)
    if (decision.kind !== 'done') throw errorOf(decision)
    const { text, campaignId } = decision
    // What needed a person is decided; the next look tells what is left.
    const [, key] = command.split(' ')
    const run = keptRun(store)
    if (run !== null)
      store.keepRun(
        JSON.stringify({ ...run, waiting: run.waiting.filter((one) => one.key !== key) }),
      )
    if (options.json) outJson(context, { decided: command, campaignId, text })
    else context.out(printable(text))
    context.exit(EXIT.ok)
  })
}

async function withDecider(
  context: Context,
  options: Options,
  command: string,
  work: (decider: Decider, reconciler: Reconciler) => Promise<void>,
): Promise<void> {
  const config = readConfig(context, options.config)
  const { openReconciler, readCampaignsFile } = await import('../../app/campaigns.ts')
  const { Decider } = await import('../../campaigns/decide.ts')
  const { DEFAULT_GUARDS } = await import('../../campaigns/desired.ts')
  const file = readCampaignsFile(config)
  const none = { campaigns: [], removed: [], guards: DEFAULT_GUARDS }
  const desired = file.kind === 'read' ? file.desired : none
  await using reconciler = openReconciler(config, context)
  const { signal } = new AbortController()
  const parts = { ...reconciler, clock: context.clock }
  const decider = new Decider(parts, desired, byWhom(context, command), signal)
  await reconciler.alone(() => work(decider, reconciler))
}

/** `maria: campaigns apply 12`, for the history. */
export function byWhom({ env }: Context, command: string): string {
  const name = env.SUDO_USER ?? env.USER ?? env.LOGNAME
  return `${name ?? userName()}: campaigns ${command}`
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'unknown user'
  }
}

export function errorOf(why: Refusal | CampaignFailure): FeedsyncError {
  if (why.kind === 'failure') return failureError(why)
  const exitCode = why.isEarly ? EXIT.temporary : why.isUsage ? EXIT.usage : EXIT.failed
  return new FeedsyncError(why.reason, { hint: why.hint, exitCode })
}
