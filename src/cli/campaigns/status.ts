// feedsyncd campaigns status/history: what is known of the campaigns, without asking the service.

import type { Command } from 'commander'
import { ofCampaigns, seenBy } from '../../app/queries.ts'
import { carriedBy } from '../../campaigns/effects.ts'
import type { CampaignRecord, CampaignWrite } from '../../campaigns/port.ts'
import type { CampaignReader } from '../../history/campaign-store.ts'
import { isoTime } from '../../lib/clock.ts'
import { EXIT } from '../../lib/errors.ts'
import { waitingCampaigns } from '../../ops/campaign-conditions.ts'
import type { Context } from '../context.ts'
import { type Call, define } from '../define.ts'
import { printable, table } from '../render.ts'
import { wholeNumber } from './fields.ts'
import { counted } from './plan-view.ts'
import { campaignLines } from './status-view.ts'

const DEFAULT_LIMIT = 50

export function statusCommand(context: Context): Command {
  const text = 'the campaigns of the file as they were seen last, without asking the service'
  return define(context, 'status', text, async (call) => {
    const model = await statusOf(call)
    const { file, lastRun, unknown, campaigns } = model
    const { commandLine } = call
    const last = campaignLines(lastRun, { now: context.clock.now(), commandLine })
    call.show(model, () => [statusText(model), ...last].join('\n'))
    const isWell = file.problems.length + unknown.length + waitingCampaigns(lastRun) === 0
    const isSure = campaigns.every(({ doubt }) => doubt === null)
    context.exit(isWell && isSure ? EXIT.ok : EXIT.notAllOk)
  })
}

async function statusOf({ config }: Call<unknown>) {
  const { feedSideOf, readCampaignsFile } = await import('../../app/campaigns.ts')
  const { latest } = feedSideOf(config)
  const read = readCampaignsFile(config)
  const all = (known: CampaignReader) => {
    const account = known.account()?.account ?? null
    return { account, lastRun: known.lastRun(), managed: seenBy(known), open: known.open() }
  }
  const nothing = { account: null, lastRun: null, managed: [], open: [] }
  const { account, lastRun, managed, open } = ofCampaigns(config, all, nothing)
  const campaigns = managed.map(({ record, seen }) => {
    const { key, origin, doubt } = record
    const { runs: _, ...state } = seen
    const differences = (lastRun?.findings ?? []).filter((one) => one.key === key)
    return {
      ...{
        ...state,
        origin,
        doubt,
        targeting: certainty(record),
        inFeed: latest.length === 0 ? null : carriedBy(latest, key),
      },
      differences: differences.map(({ reason, needs }) => ({ reason, needs })),
    }
  })
  const unknown = open.filter(({ outcome }) => outcome !== 'given-up')
  const problems = read.kind === 'unusable' ? read.lines : []
  return {
    file: { path: read.file, state: read.kind, problems },
    entries: read.kind === 'read' ? read.desired.campaigns.length : 0,
    mode: config.campaigns.mode,
    ...{ account, lastRun, campaigns },
    unknown: unknown.map(({ key, campaignId, body, at, reason }) => ({
      ...{ key, campaignId, name: body?.name ?? null, since: isoTime(at), reason },
    })),
  }
}

/** Whether the service has the targeting that was written last, as far as that is known. */
function certainty({ targeting, uncertain }: CampaignRecord): 'certain' | 'uncertain' | 'unknown' {
  if (uncertain.length > 0) return 'uncertain'
  return targeting === null ? 'unknown' : 'certain'
}

function statusText(model: Awaited<ReturnType<typeof statusOf>>): string {
  const { file, entries, campaigns, unknown } = model
  const managed = `${counted(campaigns.length, 'campaign')} managed`
  const state = {
    off: `${campaigns.length === 0 ? 'off' : `stopped, ${managed}`}: there is no campaigns file at ${file.path}`,
    unusable: `stopped: ${file.path} cannot be used, so nothing is written`,
    read: `${entries} ${entries === 1 ? 'entry' : 'entries'} in ${file.path}, ${managed}`,
  }[file.state]
  const lines = [state, ...file.problems].map(printable)
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
  for (const { key, campaignId, name, since } of unknown) {
    // A plan is about the entries of the file: of a direct write it says nothing.
    const direct: [label: string, look: string] =
      campaignId === null
        ? [String(name), `search --name ${JSON.stringify(name)} shows it if it was`]
        : [`campaign ${campaignId}`, `get ${campaignId} shows it`]
    const [label, look] = key === '' ? direct : [key, 'plan looks again, and says what to do']
    lines.push(
      printable(`? ${label}: whether it was written at ${since} is not known`),
      printable(`  to go on: feedsyncd campaigns ${look}`),
    )
  }
  return lines.join('\n')
}

export function historyCommand(context: Context): Command {
  const text = 'every write and decision, newest first'
  return define<{ limit: number }>(context, 'history', text, async (call, key?: string) => {
    const filter = { limit: call.options.limit, ...(key !== undefined && { key }) }
    const writes = ofCampaigns(call.config, (known) => known.history(filter), [])
    const entries = writes.map((write) => ({
      ...{ at: isoTime(write.at), key: write.key, campaignId: write.campaignId },
      ...{ event: eventOf(write), cause: write.by, detail: detailOf(write), why: write.why },
      ...{ body: write.body, before: write.before, spend: write.spend, outcome: write.outcome },
      endedAt: isoTime(write.endedAt),
    }))
    const rows = entries.map((e) => [e.at, e.key, e.campaignId, e.event, e.cause, e.detail])
    call.show({ entries }, () => table(['at', 'key', 'id', 'event', 'cause', 'detail'], rows, null))
  })
    .argument('[key]', 'only this external campaign id')
    .option('--limit <n>', 'at most so many', wholeNumber, DEFAULT_LIMIT)
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
    const isKnown = action === 'update' && Object.hasOwn(before, field)
    return `${field}: ${isKnown ? `${shown(before[field])} -> ` : ''}${shown(value)}`
  })
  const said = action === 'decision' ? [why] : sent
  return [...said, ...(reason === null ? [] : [reason])].join('; ')
}
