// feedsyncd campaigns plan/apply/export: compare the campaigns file with the service, and send the difference.

import { type Command, Option } from 'commander'
import { commandFor, hintWith } from '../../domain/command.ts'
import { isoTime } from '../../lib/clock.ts'
import { EXIT, messageOf } from '../../lib/errors.ts'
import { printable } from '../../lib/printable.ts'
import { countOf } from '../../lib/units.ts'
import type { Context } from '../../terminal/context.ts'
import { type Call, define, usageError } from '../../terminal/define.ts'
import type { ReadCampaignsFile } from '../campaigns-file.ts'
import { shownValue } from '../fields.ts'
import {
  exitCodeOf,
  isStuck,
  type LookResult,
  look,
  type PlanScope,
  type PlanSources,
} from '../plan.ts'
import { valueOrThrow } from '../refused.ts'
import type { WriteResult } from '../write.ts'
import type { Writer } from '../writer.ts'
import {
  askToConfirm,
  byWhom,
  checkTerminal,
  forever,
  outcomeText,
  withProgress,
} from './confirm.ts'
import { checkKey, keysOf, stableFile } from './named-entries.ts'
import { planText, stuckText } from './plan-view.ts'

interface Apply {
  plan?: string
  lower?: boolean
}

const KEYS = 'external campaign ids of entries; without any: all entries'

/** NamedEntries are the file, and the entries that a command was called for. */
interface NamedEntries {
  file: ReadCampaignsFile
  keys: readonly string[]
  scope: PlanScope
}

/** namedEntriesOf reads the file when it is stable. Throws `FeedsyncError` (64) for a key without an entry. */
async function namedEntriesOf(call: Call<unknown>, keys: readonly string[]): Promise<NamedEntries> {
  const file = await stableFile(call)
  for (const key of keys) checkKey(keysOf(file.entries), key)
  return { file, keys, scope: { file, keys: keys.length === 0 ? null : new Set(keys) } }
}

export function planCommand(context: Context): Command {
  const text = 'show what differs between the campaigns file and the service; writes nothing'
  return define(context, 'plan', text, async (call, keys: string[]) => {
    const { plan, judged } = await planWith(call, await namedEntriesOf(call, keys))
    call.showWrapped(plan, () => planText(plan, { commandLine: call.commandLine, keys, judged }))
    context.exit(exitCodeOf(plan))
  }).argument('[key...]', KEYS)
}

async function planWith({ config, context }: Call<unknown>, { scope }: NamedEntries) {
  const { openPlanner } = await import('../planner.ts')
  await using planner = openPlanner(config, withProgress(context))
  return await lookOrThrow(planner, scope)
}

async function lookOrThrow(sources: PlanSources, scope: PlanScope): Promise<LookResult> {
  const found = await look(sources, scope, forever)
  return 'class' in found ? valueOrThrow(found) : found
}

export function applyCommand(context: Context): Command {
  const text = 'show the plan, ask, and send exactly that plan'
  return define<Apply>(context, 'apply', text, async (call, keys: string[]) => {
    const { plan, lower = false } = call.options
    const next =
      keys.length === 0 ? commandFor('campaigns plan') : commandFor('campaigns plan <key...>', keys)
    const hint = hintWith(null, next)
    if (plan === undefined && !lower) checkTerminal(context, hint)
    const subject = await namedEntriesOf(call, keys)
    const digest = plan ?? (lower ? null : await confirmedDigest(call, subject, hint))
    if (digest !== undefined) await send(call, subject, digest)
  })
    .argument('[key...]', KEYS)
    .option('--plan <digest>', 'send this plan without asking, unless it changed', digestOf)
    .addOption(
      new Option('--lower', 'send only changes that spend less, without asking').conflicts('plan'),
    )
}

function digestOf(text: string): string {
  if (/^[0-9a-f]{8}$/.test(text)) return text
  throw usageError(
    `${text} is not the digest of a plan`,
    hintWith('to see the digest', commandFor('campaigns plan')),
  )
}

/**
 * confirmedDigest shows the plan, asks, and returns the digest. It returns undefined if the person did not confirm the
 * plan. A plan that sends nothing is not shown and needs no confirmation.
 */
async function confirmedDigest(call: Call<unknown>, subject: NamedEntries, hint: string) {
  const { commandLine, context } = call
  const { plan, judged } = await planWith(call, subject)
  const text = planText(plan, { commandLine, keys: subject.keys, judged, isAsked: true })
  const isConfirmed = plan.items.length === 0 || (await askToConfirm(context, text, { hint }))
  return isConfirmed ? plan.digest : undefined
}

/**
 * send applies the file, shows how each write ended, and sets the exit code. If `digest` is null, it sends only changes
 * that spend less.
 */
async function send(
  call: Call<Apply>,
  subject: NamedEntries,
  digest: string | null,
): Promise<void> {
  const { context, commandLine } = call
  const { file, keys, scope } = subject
  const { isCurrentOf } = await import('../campaigns-file.ts')
  const { openWriter } = await import('../writer.ts')
  const { apply } = await import('../apply.ts')
  const { Recorder } = await import('../recorder.ts')
  await using writer = await openWriter(call.config, withProgress(context))
  const isFileCurrent = isCurrentOf(file)
  const isCurrent = () => {
    writer.checkLock()
    return isFileCurrent()
  }
  const command = ['apply', ...keys, digest === null ? '--lower' : `--plan ${digest}`].join(' ')
  const { api, store, clock } = writer
  const recorder = new Recorder({ store, clock, actor: 'person', by: byWhom(context, command) })
  const tools = { sources: writer, api, store, recorder, isCurrent }
  const { kind, plan, results } = valueOrThrow(await apply({ ...scope, digest }, tools, forever))
  if (kind === 'stale') {
    context.err('the plan has changed, so nothing was sent')
    call.showWrapped({ kind, results, plan }, () => planText(plan, { commandLine, keys }))
    return context.exit(EXIT.notAllOk)
  }
  call.show({ kind, results, plan }, () => resultsText(results))
  const stuck = plan.entries.filter(isStuck)
  for (const entry of stuck) context.err(printable(stuckText(entry)))
  const left = await saveLookAgain(call, { writer, file, results })
  const open = left.filter((key) => scope.keys?.has(key) ?? true).length
  if (open > 0)
    context.err(
      `${countOf(open, 'campaign')} still to send: ${commandLine(commandFor('campaigns plan'))}`,
    )
  const isDone = results.every(({ outcome }) => outcome === 'done') && stuck.length === 0
  context.exit(isDone && (digest === null || open === 0) ? EXIT.ok : EXIT.notAllOk)
}

/**
 * saveLookAgain looks again, so that `status` is up to date, and returns the keys that still have changes to send. If
 * the look fails, it says so and returns no key.
 */
async function saveLookAgain(
  { config, context }: Call<unknown>,
  { writer, file, results }: { writer: Writer; file: ReadCampaignsFile; results: WriteResult[] },
): Promise<string[]> {
  try {
    const { keepLook } = await import('../reconcile.ts')
    const found = await lookOrThrow(writer, { file, keys: null })
    const at = isoTime(context.clock.now()) ?? ''
    const looked = { at, cause: 'apply', mode: config.campaigns.mode }
    keepLook(writer.store, { looked, found, results })
    return found.plan.items.map(({ key }) => key)
  } catch (error) {
    context.err(printable(`status is not up to date: ${messageOf(error)}`))
    return []
  }
}

/** resultsText returns one line for each campaign, even if its update took two writes. */
function resultsText(results: readonly WriteResult[]): string {
  const lines = results.map(({ key, campaignId, action, outcome, reason }) => {
    const id = campaignId === null ? '' : ` (campaign ${campaignId})`
    const why = reason === null ? '' : `: ${reason}`
    return printable(`${outcomeText(action, outcome)} ${key}${id}${why}`)
  })
  return [...new Set(lines)].join('\n') || 'nothing to send'
}

export function exportCommand(context: Context): Command {
  const text = 'write the campaigns that are not archived to stdout, as a campaigns file'
  return define(context, 'export', text, async ({ config, show }) => {
    const { openPlanner } = await import('../planner.ts')
    const { exportCampaigns } = await import('../export.ts')
    await using planner = openPlanner(config, withProgress(context))
    const listing = valueOrThrow(await planner.service.list(forever))
    const live = listing.campaigns
      .values()
      .filter((one) => shownValue(one, 'status') !== 'archived')
    const { text: file, count, partial } = exportCampaigns(live, planner.store?.bindings() ?? [])
    show({ count, partial, file }, () => file.trimEnd())
    const why = listing.kind === 'complete' ? [] : [`the list is not complete: ${listing.reason}`]
    const partialText = `fields that the file cannot express are left out of campaigns ${partial.join(', ')}`
    const missing = [...why, ...(partial.length === 0 ? [] : [partialText])]
    for (const line of missing) context.err(printable(line))
    context.exit(missing.length > 0 ? EXIT.notAllOk : EXIT.ok)
  })
}
