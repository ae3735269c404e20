// feedsyncd campaigns search/get/create/update: the service's campaign calls, one to one with specification section 4.

import type { Command } from 'commander'
import { commandFor, hintWith } from '../../domain/command.ts'
import { FeedsyncError } from '../../lib/errors.ts'
import { printable } from '../../lib/printable.ts'
import type { Context } from '../../terminal/context.ts'
import { type Call, define, usageError } from '../../terminal/define.ts'
import { widthOf } from '../../terminal/render.ts'
import { createDirectly, updateDirectly } from '../direct.ts'
import { Recorder } from '../recorder.ts'
import { refused, valueOrThrow } from '../refused.ts'
import type { Campaign, CampaignAnswer, CampaignApi, CampaignCreate } from '../service/port.ts'
import type { Writer } from '../writer.ts'
import { campaignJson, campaignTable, campaignText } from './campaign-view.ts'
import { askToConfirm, byWhom, forever } from './confirm.ts'
import {
  addFields,
  bodyOf,
  campaignId,
  type FieldOptions,
  statusOf,
  wholeNumber,
} from './options.ts'
import { bodyLines } from './plan-view.ts'

interface Search {
  status?: number
  name?: string
  start?: number
  num?: number
}

type WriteOptions = FieldOptions & { yes?: boolean }

const YES = ['--yes', 'send it without asking'] as const
const HINT = 'repeat the command with --yes'

export function searchCommand(context: Context): Command {
  const text = 'show one page of campaigns, as the service returns it'
  return define<Search>(context, 'search', text, async (call) => {
    const { status, name, start, num } = call.options
    const given = Object.entries({ status, name, start, num })
    const query = Object.fromEntries(given.filter(([, value]) => value !== undefined))
    const page = await askService(call, (api) => api.search(query, forever))
    const { campaigns, listField: _, ...envelope } = page
    if (call.options.json)
      return call.show({ ...envelope, campaigns: campaigns.map(campaignJson) }, () => '')
    if (campaigns.length > 0) context.out(campaignTable(campaigns, widthOf(context)))
    const of = envelope.total === null ? '' : ` of ${envelope.total}`
    const cached = envelope.fromCache ? ', from a cache of the service' : ''
    context.err(`${campaigns.length}${of} campaigns${cached}`)
    const { withoutId } = envelope
    if (withoutId > 0) context.err(`${withoutId} more came without an id and are not shown`)
  })
    .option('--status <status>', 'running, archived or paused', statusOf)
    .option('--name <name>', 'by name; the service decides what matches')
    .option('--start <n>', 'number of the first result, counted from 1', wholeNumber)
    .option('--num <n>', 'number of results on the page', wholeNumber)
}

export function getCommand(context: Context): Command {
  return define(context, 'get', 'show one campaign', async (call, id: string) => {
    const campaign = await askService(call, (api) => api.get(id, forever))
    call.show(campaignJson(campaign), () => campaignText(campaign))
  }).argument('<id>', "the service's id of the campaign", campaignId)
}

export function createCommand(context: Context): Command {
  const text = 'create a campaign without the file, after you confirm it; sent only once'
  const command = define<WriteOptions>(context, 'create', text, async (call) => {
    const { options } = call
    if (options.name === undefined)
      throw usageError(
        'a campaign needs a name',
        hintWith('to see the fields', commandFor('campaigns create --help')),
      )
    const body = bodyOf(options) as CampaignCreate
    const untargeted =
      body.targeting === undefined ? ['targeting: every posting of the account'] : []
    const shown = ['a new campaign', ...bodyLines(body, null), ...untargeted].map(printable)
    if (!options.yes && !(await askToConfirm(context, shown.join('\n    '), { hint: HINT }))) return
    const answer = await withWriter(call, 'create', (tools) => createDirectly(body, tools, forever))
    if (answer.kind === 'failure' && answer.effect === 'unknown')
      throw new FeedsyncError(
        `it is not known whether the campaign was created: ${answer.reason}`,
        {
          hint: hintWith(
            'before you repeat the command, look for the campaign',
            commandFor('campaigns search --name <name>', String(body.name)),
          ),
        },
      )
    tell(call, answer)
  }).option(...YES)
  return addFields(command, 'create')
}

export function updateCommand(context: Context): Command {
  const text = 'change the fields that you give, after you confirm it; the others stay'
  const command = define<WriteOptions>(context, 'update', text, async (call, id: string) => {
    const body = bodyOf(call.options)
    if (Object.keys(body).length === 0)
      throw usageError(
        'no field was given',
        hintWith('to see the fields', commandFor('campaigns update --help')),
      )
    const shownOf = (campaign: Campaign) => {
      const name = typeof campaign.name === 'string' ? ` ${JSON.stringify(campaign.name)}` : ''
      return [`campaign ${id}${name}`, ...bodyLines(body, campaign)].map(printable).join('\n    ')
    }
    let shown: string | null = null
    if (!call.options.yes) {
      shown = shownOf(await askService(call, (api) => api.get(id, forever)))
      if (!(await askToConfirm(context, shown, { hint: HINT }))) return
    }
    const answer = await withWriter(call, `update ${id}`, async (tools) => {
      const campaign = valueOrThrow(await tools.api.get(id, forever)).value
      if (shown !== null && shownOf(campaign) !== shown)
        throw refused(`campaign ${id} changed meanwhile, so nothing was sent`, 'repeat the command')
      return updateDirectly({ campaign, body }, tools, forever)
    })
    tell(call, answer)
  })
    .argument('<id>', "the service's id of the campaign", campaignId)
    .option(...YES)
  return addFields(command, 'update')
}

/** tell shows the campaign of an answer. Throws `FeedsyncError` if the call failed. */
function tell({ show }: Call<unknown>, answer: CampaignAnswer<Campaign>): void {
  const campaign = valueOrThrow(answer).value
  show(campaignJson(campaign), () => campaignText(campaign))
}

/** askService makes one call of the service, and returns its value. Throws `FeedsyncError` if the call fails. */
async function askService<T>(
  { context, config }: Call<unknown>,
  run: (api: CampaignApi) => Promise<CampaignAnswer<T>>,
): Promise<T> {
  const { openCampaignApi } = await import('../planner.ts')
  await using service = openCampaignApi(config, context)
  return valueOrThrow(await run(service.api)).value
}

/** withWriter runs `work` under the writer lock. The recorder names the person and `command` in the history. */
async function withWriter<T>(
  { context, config }: Call<unknown>,
  command: string,
  work: (tools: Writer & { recorder: Recorder }) => Promise<T>,
): Promise<T> {
  const { openWriter } = await import('../writer.ts')
  await using writer = await openWriter(config, context)
  const { store, clock } = writer
  const recorder = new Recorder({ store, clock, actor: 'person', by: byWhom(context, command) })
  return await work({ ...writer, recorder })
}
