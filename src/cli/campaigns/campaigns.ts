// feedsyncd campaigns: the group, and search/get/create/update, the service's campaign calls, one to one
// with specification section 4.

import { Command } from 'commander'
import { answered } from '../../campaigns/refused.ts'
import type { PersonParts } from '../../campaigns/send.ts'
import { FeedsyncError } from '../../lib/errors.ts'
import type { Campaign, CampaignAnswer, CampaignApi, CampaignCreate } from '../../service/port.ts'
import type { Context } from '../context.ts'
import { type Call, define, usageError } from '../define.ts'
import { widthOf } from '../render.ts'
import { alone } from './command.ts'
import { adoptCommand, forgetCommand, resolveCommand, sayNew } from './decide.ts'
import {
  addFields,
  bodyOf,
  campaignId,
  type FieldOptions,
  statusOf,
  wholeNumber,
} from './fields.ts'
import { previewCommand } from './preview.ts'
import { applyCommand, exportCommand, planCommand } from './reconcile.ts'
import { historyCommand, statusCommand } from './status.ts'
import { campaignJson, campaignTable, campaignText } from './view.ts'

interface Search {
  status?: number
  name?: string
  start?: number
  num?: number
}

type Update = FieldOptions & { allPostings?: boolean }
type Create = Update & { name?: string; new?: boolean }

const ALL_POSTINGS = 'without a filter in --targeting: it may sponsor every posting of the account'

export function campaignsCommand(context: Context): Command {
  const group = new Command('campaigns').description(
    'the campaigns of the account on the service, and the file that says how they should be',
  )
  const commands = [
    ...[search, get, create, update, planCommand, applyCommand, exportCommand, adoptCommand],
    ...[resolveCommand, forgetCommand, statusCommand, historyCommand, previewCommand],
  ]
  for (const command of commands) group.addCommand(command(context))
  return group
}

function search(context: Context): Command {
  const text = 'one page of campaigns, as the service answers it'
  return define<Search>(context, 'search', text, async (call) => {
    const { status, name, start, num } = call.options
    const given = Object.entries({ status, name, start, num })
    const query = Object.fromEntries(given.filter(([, value]) => value !== undefined))
    const page = await ask(call, (api, signal) => api.search(query, signal))
    const { campaigns, listField: _, ...envelope } = page
    if (call.options.json)
      return call.show({ ...envelope, campaigns: campaigns.map(campaignJson) }, () => '')
    if (campaigns.length > 0) context.out(campaignTable(campaigns, widthOf(context.terminal)))
    const of = envelope.total === null ? '' : ` of ${envelope.total}`
    const cached = envelope.fromCache ? ', from a cache of the service' : ''
    context.err(`${campaigns.length}${of} campaigns${cached}`)
    const { withoutId } = envelope
    if (withoutId > 0) context.err(`${withoutId} more came without an id and are not shown`)
  })
    .option('--status <status>', 'running, archived or paused', statusOf)
    .option('--name <name>', 'by name; the service decides what matches')
    .option('--start <n>', 'number of the first result; the first is 1', wholeNumber)
    .option('--num <n>', 'results on the page', wholeNumber)
}

function get(context: Context): Command {
  return define(context, 'get', 'one campaign', async (call, id: string) => {
    const campaign = await ask(call, (api, signal) => api.get(id, signal))
    call.show(campaignJson(campaign), () => campaignText(campaign))
  }).argument('<id>', "the service's id of the campaign", campaignId)
}

function create(context: Context): Command {
  const text = 'create a campaign under the guards of the file; sent once, never repeated'
  const command = define<Create>(context, 'create', text, async (call, key?: string) => {
    const { options } = call
    if (options.new === true && key !== undefined) return sayNew(call, key)
    if (key !== undefined || options.new === true || options.name === undefined)
      throw usageError(
        'name an entry of the file with --new, or the campaign with --name',
        'feedsyncd campaigns create NUR-Q1 --new, or: feedsyncd campaigns create --help',
      )
    const body = bodyOf(options) as CampaignCreate
    const { createDirectly } = await import('../../campaigns/direct.ts')
    const answer = await alone(call, 'create', (parts) =>
      createDirectly(parts, body, options.allPostings === true),
    )
    if (answer.kind === 'failure' && answer.effect === 'unknown')
      throw new FeedsyncError(`whether the campaign was created is not known: ${answer.reason}`, {
        hint: `do not repeat it before a look: feedsyncd campaigns search --name ${JSON.stringify(body.name)}`,
      })
    tellDirect(call, answer)
  })
    .argument('[key]', 'with --new: external campaign id of an entry')
    .option(
      '--new',
      'the next apply makes a new campaign for the entry, and pauses the one that it has',
    )
    .option('--all-postings', ALL_POSTINGS)
  return addFields(command, 'create')
}

function update(context: Context): Command {
  const text = 'change the fields that are given; the others stay as they are'
  const command = define<Update>(context, 'update', text, async (call, id: string) => {
    const { allPostings = false } = call.options
    const body = bodyOf(call.options)
    if (Object.keys(body).length === 0)
      throw usageError(
        'no field to change was given',
        'feedsyncd campaigns update --help lists the fields',
      )
    const { updateDirectly } = await import('../../campaigns/direct.ts')
    // What spends less goes, whatever the file is like.
    const work = (parts: PersonParts) => updateDirectly(parts, id, body, allPostings)
    tellDirect(call, await alone(call, `update ${id}`, work, { needsFile: false }))
  })
    .argument('<id>', "the service's id of the campaign", campaignId)
    .option('--all-postings', ALL_POSTINGS)
  return addFields(command, 'update')
}

function tellDirect({ show }: Call<unknown>, answer: CampaignAnswer<Campaign>): void {
  const campaign = answered(answer).value
  show(campaignJson(campaign), () => campaignText(campaign))
}

/** One call of the service, whose failure ends the command. */
async function ask<T>(
  { context, config }: Call<unknown>,
  run: (api: CampaignApi, signal: AbortSignal) => Promise<CampaignAnswer<T>>,
): Promise<T> {
  const { openCampaignApi } = await import('../../app/campaigns.ts')
  await using service = openCampaignApi(config, context)
  return answered(await run(service.api, new AbortController().signal)).value
}
