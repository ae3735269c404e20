// feedsyncd campaigns: the group, and search/get/create/update, the service's campaign calls, one to one
// with specification section 4.

import { Command } from 'commander'
import type { Direct, DirectParts } from '../../campaigns/direct.ts'
import { FeedsyncError } from '../../lib/errors.ts'
import type { CampaignAnswer, CampaignApi, CampaignCreate } from '../../service/port.ts'
import { type Context, outJson, readConfig } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import { widthOf } from '../render.ts'
import { byWhom, decideCommands, errorOf, sayNew } from './decide.ts'
import {
  addFields,
  bodyOf,
  campaignId,
  type FieldOptions,
  statusOf,
  wholeNumber,
} from './fields.ts'
import { previewCommand } from './preview.ts'
import { reconcileCommands } from './reconcile.ts'
import { knownCommands } from './status.ts'
import { campaignJson, campaignTable, campaignText, failureError } from './view.ts'

interface Options extends FieldOptions {
  config?: string
  json?: boolean
  start?: number
  num?: number
  new?: boolean
  allPostings?: boolean
}

export function campaignsCommand(context: Context): Command {
  const group = new Command('campaigns').description(
    'the campaigns of the account on the service, and the file that says how they should be',
  )
  const commands = [
    searchCommand(context),
    getCommand(context),
    createCommand(context),
    updateCommand(context),
    ...reconcileCommands(context),
    ...decideCommands(context),
    ...knownCommands(context),
    previewCommand(context),
  ]
  for (const command of commands) group.addCommand(command)
  return group
}

function searchCommand(context: Context): Command {
  return new Command('search')
    .description('one page of campaigns, as the service answers it')
    .option('--status <status>', 'running, archived or paused', statusOf)
    .option('--name <name>', 'by name; the service decides what matches')
    .option('--start <n>', 'number of the first result; the first is 1', wholeNumber)
    .option('--num <n>', 'results on the page', wholeNumber)
    .option('--json', 'the answer as JSON')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const { status, name, start, num } = options
      const given = Object.entries({ status, name, start, num })
      const query = Object.fromEntries(given.filter(([, value]) => value !== undefined))
      const page = await call(context, options, (api, signal) => api.search(query, signal))
      const { campaigns, listField, ...envelope } = page
      const { withoutId } = envelope
      if (options.json) {
        outJson(context, { ...envelope, campaigns: campaigns.map(campaignJson) })
        return
      }
      const width = widthOf(context.terminal)
      if (campaigns.length > 0) context.out(campaignTable(campaigns, width))
      const of = envelope.total === null ? '' : ` of ${envelope.total}`
      const cached = envelope.fromCache ? ', from a cache of the service' : ''
      context.err(`${campaigns.length}${of} campaigns${cached}`)
      if (withoutId > 0) context.err(`${withoutId} more came without an id and are not shown`)
    })
}

function getCommand(context: Context): Command {
  return new Command('get')
    .description('one campaign')
    .argument('<id>', "the service's id of the campaign", campaignId)
    .option('--json', 'the answer as JSON')
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const campaign = await call(context, options, (api, signal) => api.get(id, signal))
      if (options.json) outJson(context, campaignJson(campaign))
      else context.out(campaignText(campaign))
    })
}

function createCommand(context: Context): Command {
  return addFields(
    new Command('create')
      .description('create a campaign under the guards of the file; sent once, never repeated')
      .argument('[key]', 'with --new: external campaign id of an entry')
      .option('--new', 'no campaign that is there is the one of the entry; the next apply makes it')
      .option('--all-postings', 'without --targeting: it may sponsor every posting of the account')
      .option('--json', 'the answer as JSON'),
    'create',
  ).action(async (key: string | undefined, _options, command: Command) => {
    const options = command.optsWithGlobals<Options>()
    if (options.new === true && key !== undefined) return sayNew(context, options, key)
    if (key !== undefined || options.new === true || options.name === undefined)
      throw new FeedsyncError('name an entry of the file with --new, or the campaign with --name', {
        hint: 'feedsyncd campaigns create NUR-Q1 --new, or: feedsyncd campaigns create --help',
        exitCode: EXIT.usage,
      })
    const body = bodyOf(options) as CampaignCreate
    const { createDirectly } = await import('../../campaigns/direct.ts')
    await direct(context, options, 'create', async (parts) => {
      const answer = await createDirectly(parts, body, options.allPostings === true)
      if (answer.kind !== 'failure' || answer.effect !== 'unknown') return answer
      throw new FeedsyncError(`whether the campaign was created is not known: ${answer.reason}`, {
        hint: `do not repeat it before a look: feedsyncd campaigns search --name ${JSON.stringify(body.name)}`,
      })
    })
  })
}

function updateCommand(context: Context): Command {
  return addFields(
    new Command('update')
      .description('change the fields that are given; the others stay as they are')
      .argument('<id>', "the service's id of the campaign", campaignId)
      .option('--json', 'the answer as JSON'),
    'update',
  ).action(async (id: string, _options, command: Command) => {
    const options = command.optsWithGlobals<Options>()
    const body = bodyOf(options)
    if (Object.keys(body).length === 0)
      throw new FeedsyncError('no field to change was given', {
        hint: 'feedsyncd campaigns update --help lists the fields',
        exitCode: EXIT.usage,
      })
    const { updateDirectly } = await import('../../campaigns/direct.ts')
    await direct(context, options, `update ${id}`, (parts) => updateDirectly(parts, id, body))
  })
}

/** A write at a person's command: alone, under the guards, and in the history. */
async function direct(
  context: Context,
  options: Options,
  command: string,
  run: (parts: DirectParts) => Promise<Direct>,
): Promise<void> {
  const config = readConfig(context, options.config)
  const { feedSideOf, openReconciler, readCampaignsFile } = await import('../../app/campaigns.ts')
  const { DEFAULT_GUARDS } = await import('../../campaigns/desired.ts')
  const file = readCampaignsFile(config)
  const guards = file.kind === 'read' ? file.desired.guards : DEFAULT_GUARDS
  await using reconciler = openReconciler(config, context)
  const { signal } = new AbortController()
  const by = byWhom(context, command)
  const more = { guards, by, signal, clock: context.clock, feeds: () => feedSideOf(config) }
  const answer = await reconciler.alone(() => run({ ...reconciler, ...more }))
  if (answer.kind !== 'ok') throw errorOf(answer)
  if (options.json) outJson(context, campaignJson(answer.campaign))
  else context.out(campaignText(answer.campaign))
  context.exit(EXIT.ok)
}

/** One call of the service, whose failure ends the command. */
async function call<T>(
  context: Context,
  options: Options,
  run: (api: CampaignApi, signal: AbortSignal) => Promise<CampaignAnswer<T>>,
): Promise<T> {
  const config = readConfig(context, options.config)
  const { openCampaignApi } = await import('../../app/campaigns.ts')
  await using service = openCampaignApi(config, context)
  const answer = await run(service.api, new AbortController().signal)
  if (answer.kind === 'failure') throw failureError(answer)
  context.exit(EXIT.ok)
  return answer.value
}
