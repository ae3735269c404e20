// feedsyncd campaigns status/history: what is known of the campaigns, without asking the service.

import { Command } from 'commander'
import { keptRun, openCampaignMemory } from '../app-tools.ts'
import type { CreateIntent } from '../campaigns/port.ts'
import { isoTime } from '../lib/clock.ts'
import { waitingCampaigns } from '../ops/campaign-conditions.ts'
import { counted } from './campaigns-feed-view.ts'
import { wholeNumber } from './campaigns-fields.ts'
import { campaignLines } from './campaigns-status-view.ts'
import { commandLineHere } from './command-line.ts'
import { type Context, outJson, readConfig } from './context.ts'
import { EXIT } from './exit-codes.ts'
import { printable, table } from './render.ts'

interface Options {
  config?: string
  json?: boolean
  limit?: number
}

const DEFAULT_LIMIT = 50

export function knownCommands(context: Context): Command[] {
  return [statusCommand(context), historyCommand(context)]
}

function statusCommand(context: Context): Command {
  return new Command('status')
    .description('what is managed, without asking the service; plan tells what differs')
    .option('--json', 'as JSON')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const config = readConfig(context, options.config)
      const { feedSideOf, readCampaignsFile } = await import('../app-campaigns.ts')
      const { latest } = feedSideOf(config)
      const read = readCampaignsFile(config)
      using memory = openCampaignMemory(config)
      const records = memory?.records() ?? []
      const open = (memory?.intents() ?? []).filter(isUnknown)
      const problems = read.kind === 'unusable' ? read.lines : []
      const model = {
        file: { path: read.file, state: read.kind, problems },
        entries: read.kind === 'read' ? read.desired.campaigns.length : 0,
        account: memory?.account() ?? null,
        mode: config.campaigns.mode,
        lastRun: keptRun(memory),
        campaigns: records.map(({ key, campaignId, origin, pending, frozen, applied }) => ({
          ...{ key, campaignId, origin, frozen, name: applied.name ?? null },
          inFeed:
            latest.length === 0 ? null : latest.reduce((sum, { ids }) => sum + (ids[key] ?? 0), 0),
          targeting:
            pending !== null
              ? 'uncertain'
              : applied.targeting === undefined
                ? 'unknown'
                : 'certain',
        })),
        unknown: open.map(({ key, at, reason }) => ({ key, since: isoTime(at), reason })),
      }
      if (options.json) outJson(context, model)
      else {
        context.out(statusText(model))
        const commandLine = commandLineHere(context.env, options.config)
        const view = { now: context.clock.now(), commandLine }
        for (const line of campaignLines(model.lastRun, view)) context.out(line)
      }
      const waits = waitingCampaigns(model.lastRun) > 0
      const well = problems.length === 0 && open.length === 0 && !waits
      context.exit(well && records.every(({ frozen }) => frozen === null) ? EXIT.ok : EXIT.notAllOk)
    })
}

interface StatusModel {
  file: { path: string; state: string; problems: string[] }
  entries: number
  campaigns: {
    key: string
    campaignId: string
    origin: string
    targeting: string
    inFeed: number | null
    frozen: string | null
  }[]
  unknown: { key: string; since: string | null }[]
}

function statusText({ file, entries, campaigns, unknown }: StatusModel): string {
  const state = {
    off: `off: there is no campaigns file at ${file.path}`,
    unusable: `stopped: ${file.path} cannot be used, so nothing is written`,
    read: `${entries} ${entries === 1 ? 'entry' : 'entries'} in ${file.path}, ${counted(campaigns.length, 'campaign')} managed`,
  }[file.state]
  const lines = [state ?? file.state, ...file.problems].map(printable)
  if (campaigns.length > 0) {
    const rows = campaigns.map((c) => [
      ...[c.key, c.campaignId, c.origin, c.targeting, c.inFeed, c.frozen],
    ])
    lines.push('', table(['key', 'id', 'origin', 'targeting', 'in feed', 'frozen'], rows, null))
  }
  for (const { key, since } of unknown)
    lines.push(
      printable(`? ${key}: whether it was created at ${since} is not known`),
      '  to go on: feedsyncd campaigns apply --yes looks again; or resolve it',
    )
  return lines.join('\n')
}

function historyCommand(context: Context): Command {
  return new Command('history')
    .description('every decision about campaigns, newest first')
    .argument('[key]', 'only this external campaign id')
    .option('--limit <n>', 'at most so many', wholeNumber, DEFAULT_LIMIT)
    .option('--json', 'as JSON')
    .action(async (key: string | undefined, _options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const config = readConfig(context, options.config)
      using memory = openCampaignMemory(config)
      const filter = { limit: options.limit ?? DEFAULT_LIMIT, ...(key !== undefined && { key }) }
      const entries = (memory?.history(filter) ?? []).map(({ at, ...entry }) => ({
        at: isoTime(at),
        ...entry,
      }))
      if (options.json) outJson(context, { entries })
      else {
        const rows = entries.map((e) => [e.at, e.key, e.campaignId, e.event, e.cause, e.detail])
        context.out(table(['at', 'key', 'id', 'event', 'cause', 'detail'], rows, null))
      }
      context.exit(EXIT.ok)
    })
}

const isUnknown = ({ state }: CreateIntent) => state === 'sending' || state === 'unknown'
