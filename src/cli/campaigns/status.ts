// feedsyncd campaigns status/history: what is known of the campaigns, without asking the service.

import { Command } from 'commander'
import { keptRun, openCampaignMemory } from '../../app/tools.ts'
import type { CampaignSight } from '../../campaigns/plan.ts'
import type { CampaignRecord, CampaignWrite } from '../../campaigns/port.ts'
import { isoTime } from '../../lib/clock.ts'
import { waitingCampaigns } from '../../ops/campaign-conditions.ts'
import { commandLineHere } from '../command-line.ts'
import { type Context, outJson, readConfig } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import { printable, table } from '../render.ts'
import { counted } from './feed-view.ts'
import { wholeNumber } from './fields.ts'
import { campaignLines } from './status-view.ts'

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
    .description('the campaigns of the file as they were seen last, without asking the service')
    .option('--json', 'as JSON')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const config = readConfig(context, options.config)
      const { feedSideOf, readCampaignsFile } = await import('../../app/campaigns.ts')
      const { latest } = feedSideOf(config)
      const read = readCampaignsFile(config)
      using memory = openCampaignMemory(config)
      const problems = read.kind === 'unusable' ? read.lines : []
      const lastRun = keptRun(memory)
      const sights = JSON.parse(memory?.lastSights() ?? '[]') as CampaignSight[]
      const seen = new Map(sights.map((one) => [one.key, one]))
      const inFeed = (key: string) =>
        latest.length === 0
          ? null
          : latest.reduce(
              (sum, { ids }) => sum + (Object.hasOwn(ids, key) ? (ids[key] ?? 0) : 0),
              0,
            )
      const campaigns = (memory?.records() ?? []).map((record) => {
        const { key, campaignId, origin, doubt, written } = record
        const { runs, ...sight } = seen.get(key) ?? { ...UNSEEN, name: null, runs: null }
        const differences = (lastRun?.findings ?? []).filter((one) => one.key === key)
        return {
          ...{ ...sight, key, campaignId, origin, doubt, targeting: certainty(record) },
          name: sight.name ?? (written.name === undefined ? null : String(written.name)),
          inFeed: inFeed(key),
          differences: differences.map(({ reason, needs }) => ({ reason, needs })),
        }
      })
      const open = (memory?.open() ?? []).filter(isUnknown)
      const model = {
        file: { path: read.file, state: read.kind, problems },
        entries: read.kind === 'read' ? read.desired.campaigns.length : 0,
        account: memory?.account()?.account ?? null,
        mode: config.campaigns.mode,
        ...{ lastRun, campaigns },
        unknown: open.map(({ key, at, reason }) => ({ key, since: isoTime(at), reason })),
      }
      if (options.json) outJson(context, model)
      else {
        context.out(statusText(model))
        const commandLine = commandLineHere(context.env, options.config)
        const view = { now: context.clock.now(), commandLine }
        for (const line of campaignLines(model.lastRun, view)) context.out(line)
      }
      const isWell = problems.length === 0 && open.length === 0 && waitingCampaigns(lastRun) === 0
      context.exit(
        isWell && campaigns.every(({ doubt }) => doubt === null) ? EXIT.ok : EXIT.notAllOk,
      )
    })
}

const UNSEEN = {
  ...{ status: null, budget: null, period: null, spend: null, endDate: null, maySpend: null },
}

/** Whether it is known which targeting the service has. */
function certainty({ targeting, uncertain }: CampaignRecord): 'certain' | 'uncertain' | 'unknown' {
  if (uncertain.length > 0) return 'uncertain'
  return targeting === null ? 'unknown' : 'certain'
}

interface StatusModel {
  file: { path: string; state: string; problems: string[] }
  entries: number
  campaigns: {
    key: string
    campaignId: string
    name: string | null
    status: string | null
    budget: string | null
    period: string | null
    spend: string | null
    endDate: string | null
    targeting: string
    inFeed: number | null
    differences: readonly unknown[]
  }[]
  unknown: { key: string; since: string | null }[]
}

function statusText({ file, entries, campaigns, unknown }: StatusModel): string {
  const managed = `${counted(campaigns.length, 'campaign')} managed`
  const state = {
    off: `${campaigns.length === 0 ? 'off' : `stopped, ${managed}`}: there is no campaigns file at ${file.path}`,
    unusable: `stopped: ${file.path} cannot be used, so nothing is written`,
    read: `${entries} ${entries === 1 ? 'entry' : 'entries'} in ${file.path}, ${managed}`,
  }[file.state]
  const lines = [state ?? file.state, ...file.problems].map(printable)
  if (campaigns.length > 0) {
    const rows = campaigns.map((c) => [
      ...[c.key, c.campaignId, c.name, c.status, c.budget, c.period, c.spend, c.endDate],
      ...[c.targeting, c.inFeed, c.differences.length === 0 ? null : c.differences.length],
    ])
    const headers = [
      ...['key', 'id', 'name', 'status', 'budget', 'period', 'spend', 'end'],
      ...['targeting', 'in feed', 'differs'],
    ]
    lines.push('', table(headers, rows, null))
  }
  for (const { key, since } of unknown)
    lines.push(
      printable(`? ${key}: whether it was written at ${since} is not known`),
      '  to go on: feedsyncd campaigns plan looks again, and says what to do',
    )
  return lines.join('\n')
}

function historyCommand(context: Context): Command {
  return new Command('history')
    .description('every write and decision, newest first')
    .argument('[key]', 'only this external campaign id')
    .option('--limit <n>', 'at most so many', wholeNumber, DEFAULT_LIMIT)
    .option('--json', 'as JSON')
    .action(async (key: string | undefined, _options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const config = readConfig(context, options.config)
      using memory = openCampaignMemory(config)
      const filter = { limit: options.limit ?? DEFAULT_LIMIT, ...(key !== undefined && { key }) }
      const entries = (memory?.history(filter) ?? []).map((write) => ({
        ...{ at: isoTime(write.at), key: write.key, campaignId: write.campaignId },
        ...{ event: eventOf(write), cause: write.by, detail: detailOf(write), why: write.why },
        ...{ body: write.body, before: write.before, spend: write.spend, outcome: write.outcome },
        endedAt: isoTime(write.endedAt),
      }))
      if (options.json) outJson(context, { entries })
      else {
        const rows = entries.map((e) => [e.at, e.key, e.campaignId, e.event, e.cause, e.detail])
        context.out(table(['at', 'key', 'id', 'event', 'cause', 'detail'], rows, null))
      }
      context.exit(EXIT.ok)
    })
}

function eventOf({ action, outcome }: CampaignWrite): string {
  if (action === 'decision') return 'decided'
  if (outcome !== 'done') return outcome === 'sending' ? 'unknown' : outcome
  return action === 'create' ? 'created' : 'updated'
}

/** `budget 100.00 -> 90`, as it was sent. */
function detailOf({ action, body, before, why, reason }: CampaignWrite): string {
  const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  const sent = Object.entries(body ?? {}).map(([field, value]) => {
    const had =
      action === 'update' && Object.hasOwn(before, field) ? `${shown(before[field])} -> ` : ''
    return `${field}: ${had}${shown(value)}`
  })
  return [...(action === 'decision' ? [why] : sent), ...(reason === null ? [] : [reason])].join(
    '; ',
  )
}

const isUnknown = ({ outcome }: CampaignWrite) => outcome === 'sending' || outcome === 'unknown'
