// feedsyncd campaigns status/history: what the database knows of the campaigns, without asking the service.

import type { Command } from 'commander'
import { commandFor } from '../../domain/command.ts'
import { isoTime } from '../../lib/clock.ts'
import { EXIT } from '../../lib/errors.ts'
import { printable } from '../../lib/printable.ts'
import { countOf } from '../../lib/units.ts'
import { hintText } from '../../ops/advice.ts'
import type { CampaignRun, CampaignSeen } from '../../ops/campaigns/run.ts'
import { campaignLine } from '../../ops/campaigns/summary-line.ts'
import { campaignProblemsOf } from '../../ops/problems.ts'
import type { Context } from '../../terminal/context.ts'
import { type Call, define } from '../../terminal/define.ts'
import { problemLines } from '../../terminal/problem-view.ts'
import { factsText, proseTable, widthOf } from '../../terminal/render.ts'
import type { CampaignsFile } from '../campaigns-file.ts'
import { targetingText } from '../change-text.ts'
import { needsPerson } from '../judged-entry.ts'
import { lastKnown, readCampaigns } from '../last-known.ts'
import type { Binding, CampaignWrite } from '../port.ts'
import type { Targeting } from '../service/port.ts'
import { briefTargeting, type CanonicalTargeting, isSame } from '../targeting.ts'
import { outcomeText } from './confirm.ts'
import { checkKey } from './named-entries.ts'
import { numberFacts, numbersTable } from './numbers-view.ts'
import { wholeNumber } from './options.ts'
import { bodyLines, hiddenText } from './plan-view.ts'

const DEFAULT_LIMIT = 50

export function statusCommand(context: Context): Command {
  const text = 'show the entries as the last look found them, without asking the service'
  return define(context, 'status', text, async (call, key?: string) => {
    const { bindings, ...model } = await statusOf(call)
    const { file } = model
    const known = model.entries.map((entry) => entry.key)
    const named = key === undefined ? undefined : entryNamed(model.entries, key)
    if (key !== undefined && named === undefined) checkKey(known, key)
    const entries = named === undefined ? model.entries : [named]
    const one = () =>
      entries.map((each) => entryText(call, each, bindings.get(each.key))).join('\n')
    call.showWrapped({ ...model, entries }, () =>
      key === undefined ? statusText(call, model, bindings.size) : one(),
    )
    const isUsable = file.state === 'read' || (file.state === 'off' && bindings.size === 0)
    const isWell = !entries.some(({ state }) => needsPerson(state))
    context.exit(isUsable && isWell ? EXIT.ok : EXIT.notAllOk)
  }).argument(
    '[key]',
    'external campaign id, name or campaign id of one entry, which is shown in full',
  )
}

/** entryNamed finds an entry by its key, else by the campaign's id, else by the campaign's name in any case. */
function entryNamed(entries: readonly ShownEntry[], text: string): ShownEntry | undefined {
  const isName = ({ name }: ShownEntry) => name?.toLowerCase() === text.toLowerCase()
  const isId = ({ campaignId }: ShownEntry) => campaignId === text
  return entries.find(({ key }) => key === text) ?? entries.find(isId) ?? entries.find(isName)
}

/** CampaignsStatus is the document of `campaigns status --json`. */
interface CampaignsStatus {
  /** `problems` says why the file cannot be used, one line for each mistake. */
  file: { path: string; state: CampaignsFile['kind']; problems: readonly string[] }
  mode: CampaignRun['mode']
  lastRun: CampaignRun | null
  entries: ShownEntry[]
}

interface ShownEntry extends Omit<CampaignSeen, 'since'> {
  /** Absent if no look has seen the entry. */
  since?: string
  sentTargeting: Targeting | null
}

async function statusOf({
  config,
}: Call<unknown>): Promise<CampaignsStatus & { bindings: ReadonlyMap<string, Binding> }> {
  const { readCampaignsFile } = await import('../campaigns-file.ts')
  const read = readCampaignsFile(config)
  const { bindings: bound, run: lastRun } = lastKnown(config)
  const seen = new Map(lastRun?.entries.map((one) => [one.key, one]))
  const bindings = new Map(bound.map((one) => [one.key, one]))
  const wanted =
    read.kind === 'read'
      ? read.entries
      : [...new Set([...seen.keys(), ...bindings.keys()])].map((key) => ({ key, targeting: null }))
  const entries = wanted.map(({ key, targeting }) => {
    const binding = bindings.get(key)
    const sent = binding?.sent.targeting ?? null
    return {
      ...(seen.get(key) ?? unseen(key, binding, targeting)),
      sentTargeting: sent && briefTargeting(sent),
    }
  })
  const problems = read.kind === 'unusable' ? read.lines : []
  const file = { path: read.file, state: read.kind, problems }
  return { file, mode: config.campaigns.mode, lastRun, entries, bindings }
}

/** unseen returns the state of an entry that no look has seen yet. */
function unseen(
  key: string,
  binding: Binding | undefined,
  targeting: CanonicalTargeting | null,
): Omit<CampaignSeen, 'since'> {
  const sent = binding?.sent.targeting ?? null
  const isPending = targeting !== null && (sent === null || !isSame(targeting, sent))
  const state = binding === undefined ? 'new' : isPending ? 'pending' : 'in line'
  const nothing = { reason: null, next: null, changes: [], name: null, status: null }
  return { key, campaignId: binding?.campaignId ?? null, state, ...nothing, coverage: null }
}

function statusText(
  { context, commandLine }: Call<unknown>,
  model: CampaignsStatus,
  count: number,
): string {
  const { file, entries, lastRun } = model
  const bound = `${countOf(count, 'campaign')} bound`
  const first = {
    off: `${count === 0 ? 'off' : `stopped, ${bound}`}: there is no campaigns file at ${file.path}`,
    unusable: `stopped, ${bound}: ${file.path} cannot be used, so nothing is written`,
    read: `${entries.length} ${entries.length === 1 ? 'entry' : 'entries'} in ${file.path}, ${bound}`,
  }[file.state]
  const now = context.clock.now()
  return [
    ...[first, ...file.problems].map(printable),
    ...(entries.length === 0 ? [] : ['', numbersTable(entries, now, widthOf(context)), '']),
    campaignLine(lastRun, now),
    ...problemLines(campaignProblemsOf(lastRun, { now, commandLine }), {
      commandLine,
      more: commandFor('campaigns plan'),
      now,
      terminal: context.terminal,
    }),
  ].join('\n')
}

function entryText(
  { context, commandLine }: Call<unknown>,
  entry: ShownEntry,
  bound?: Binding,
): string {
  const { key, campaignId, state, name, status, reason, next, changes, coverage } = entry
  const facts = factsText([
    ['key', key],
    ['id', campaignId],
    ['state', state],
    ['name', name],
    ['status', status],
    ...numberFacts(coverage, status, context.clock.now()),
    ['why', reason],
    ...changes.map((change) => ['differs', change] as const),
    ['next', next && hintText(next, commandLine)],
  ])
  if (bound === undefined) return facts
  const { targeting } = bound.sent
  const isHidden = bound.shown === null || targeting === null
  const last = isHidden ? hiddenText(targeting) : `feedsyncd last sent ${targetingText(targeting)}`
  return `${facts}\n${printable(last)}`
}

export function historyCommand(context: Context): Command {
  const text = 'show every write and decision, newest first'
  return define<{ limit: number }>(context, 'history', text, async (call, key?: string) => {
    const filter = { limit: call.options.limit, ...(key !== undefined && { key }) }
    const writes = readCampaigns(call.config, (known) => known.history(filter), [])
    if (key !== undefined && writes.length === 0) {
      const { entries } = await statusOf(call)
      checkKey(
        entries.map((entry) => entry.key),
        key,
      )
    }
    const entries = writes.map(({ id: _, ...write }) => ({
      ...write,
      at: isoTime(write.at),
      endedAt: isoTime(write.endedAt),
      what: outcomeText(write.action, write.outcome),
      detail: detailOf(write),
    }))
    const rows = entries.map((one) => [
      ...[one.at, one.key, one.campaignId, one.what, one.by, one.detail],
    ])
    call.showWrapped({ entries }, () =>
      proseTable(['at', 'key', 'id', 'what', 'by', 'detail'], rows, widthOf(call.context)),
    )
  })
    .argument('[key]', 'only this external campaign id')
    .option('--limit <n>', 'the most lines to show', wholeNumber, DEFAULT_LIMIT)
}

/** detailOf returns the changes of a write, `budget: 100.00 -> 90.00  [spends less]`, and the remark on its outcome. */
function detailOf({ action, body, before, reason }: Omit<CampaignWrite, 'id'>): string {
  const lines = bodyLines(body ?? {}, action === 'create' ? null : { id: '', other: before })
  return [...lines, ...(reason === null ? [] : [reason])].join('; ')
}
