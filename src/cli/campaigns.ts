// feedsyncd campaigns: the group, and search/get/create/update, the service's campaign calls, one to one
// with specification section 4.

import { Command } from 'commander'
import { FeedsyncError } from '../lib/errors.ts'
import type { CampaignAnswer, CampaignApi, CampaignCreate } from '../service/port.ts'
import {
  addFields,
  bodyOf,
  campaignId,
  type FieldOptions,
  statusOf,
  wholeNumber,
} from './campaigns-fields.ts'
import { memoryCommands } from './campaigns-memory.ts'
import { previewCommand } from './campaigns-preview.ts'
import { reconcileCommands } from './campaigns-reconcile.ts'
import { knownCommands } from './campaigns-status.ts'
import { campaignJson, campaignTable, campaignText, failureError } from './campaigns-view.ts'
import { type Context, outJson, readConfig } from './context.ts'
import { EXIT } from './exit-codes.ts'
import { widthOf } from './render.ts'

interface Options extends FieldOptions {
  config?: string
  json?: boolean
  start?: number
  num?: number
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
    ...memoryCommands(context),
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
      .description('create a campaign; sent once, never repeated')
      .option('--json', 'the answer as JSON'),
    'create',
  ).action(async (_options, command: Command) => {
    const options = command.optsWithGlobals<Options>()
    const body = bodyOf(options) as CampaignCreate
    const campaign = await call(context, options, async (api, signal) => {
      const answer = await api.create(body, signal)
      if (answer.kind === 'ok' || answer.effect !== 'unknown') return answer
      throw new FeedsyncError(`whether the campaign was created is not known: ${answer.reason}`, {
        hint: `do not repeat it before a look: feedsyncd campaigns search --name ${JSON.stringify(body.name)}`,
      })
    })
    if (options.json) outJson(context, campaignJson(campaign))
    else context.out(campaignText(campaign))
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
    const campaign = await call(context, options, (api, signal) => api.update(id, body, signal))
    if (options.json) outJson(context, campaignJson(campaign))
    else context.out(campaignText(campaign))
  })
}

/** One call of the service, whose failure ends the command. */
async function call<T>(
  context: Context,
  options: Options,
  run: (api: CampaignApi, signal: AbortSignal) => Promise<CampaignAnswer<T>>,
): Promise<T> {
  const config = readConfig(context, options.config)
  const { openCampaignApi } = await import('../app-campaigns.ts')
  await using service = openCampaignApi(config, context)
  const answer = await run(service.api, new AbortController().signal)
  if (answer.kind === 'failure') throw failureError(answer)
  context.exit(EXIT.ok)
  return answer.value
}
