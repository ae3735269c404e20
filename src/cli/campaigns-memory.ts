// feedsyncd campaigns status/history/adopt/resolve: what is known of the campaigns, and what a person
// says about one.

import { Command } from 'commander'
import type { Reconciler } from '../app-campaigns.ts'
import type { CreateIntent } from '../campaigns/port.ts'
import { isoTime } from '../lib/clock.ts'
import { FeedsyncError } from '../lib/errors.ts'
import { wholeNumber } from './campaigns-fields.ts'
import { failureError } from './campaigns-view.ts'
import { type Context, outJson, readConfig } from './context.ts'
import { EXIT } from './exit-codes.ts'
import { printable, table } from './render.ts'

interface Options {
  config?: string
  json?: boolean
  limit?: number
  adopt?: string
  notCreated?: boolean
  checked?: boolean
}

const DEFAULT_LIMIT = 50

export function memoryCommands(context: Context): Command[] {
  return [
    statusCommand(context),
    historyCommand(context),
    adoptCommand(context),
    resolveCommand(context),
  ]
}

function statusCommand(context: Context): Command {
  return new Command('status')
    .description('what is managed, without asking the service; plan tells what differs')
    .option('--json', 'as JSON')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const config = readConfig(context, options.config)
      const { openCampaignMemory, readCampaignsFile } = await import('../app-campaigns.ts')
      const read = readCampaignsFile(config)
      using memory = openCampaignMemory(config)
      const records = memory?.records() ?? []
      const open = (memory?.intents() ?? []).filter(isUnknown)
      const problems = read.kind === 'unusable' ? read.lines : []
      const model = {
        file: { path: read.file, state: read.kind, problems },
        entries: read.kind === 'read' ? read.desired.campaigns.length : 0,
        account: memory?.account() ?? null,
        campaigns: records.map(({ key, campaignId, origin, pending, frozen, applied }) => ({
          ...{ key, campaignId, origin, frozen, name: applied.name ?? null },
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
      else context.out(statusText(model))
      const well = problems.length === 0 && open.length === 0
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
    frozen: string | null
  }[]
  unknown: { key: string; since: string | null }[]
}

function statusText({ file, entries, campaigns, unknown }: StatusModel): string {
  const state = {
    off: `off: there is no campaigns file at ${file.path}`,
    unusable: `stopped: ${file.path} cannot be used, so nothing is written`,
    read: `${entries} entries in ${file.path}, ${campaigns.length} campaigns managed`,
  }[file.state]
  const lines = [state ?? file.state, ...file.problems].map(printable)
  if (campaigns.length > 0) {
    const rows = campaigns.map((c) => [c.key, c.campaignId, c.origin, c.targeting, c.frozen])
    lines.push('', table(['key', 'id', 'origin', 'targeting', 'frozen'], rows, null))
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
      const { openCampaignMemory } = await import('../app-campaigns.ts')
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

function adoptCommand(context: Context): Command {
  return new Command('adopt')
    .description('remember that an existing campaign belongs to an entry; nothing is written to it')
    .argument('<key>', 'external campaign id of the entry')
    .argument('<id>', "the service's id of the campaign")
    .action(async (key: string, id: string, _options, command: Command) => {
      await withReconciler(context, command, async (reconciler) => {
        if (reconciler.store.intents().some((one) => one.key === key && isUnknown(one)))
          throw new FeedsyncError(`whether ${key} was created is not known yet`, {
            hint: `feedsyncd campaigns resolve ${key} --adopt ${id}`,
          })
        await remember(context, reconciler, key, id, null)
      })
    })
}

function resolveCommand(context: Context): Command {
  return new Command('resolve')
    .description(
      'say what became of a create whose outcome is not known, or let a frozen campaign go on',
    )
    .argument('<key>', 'external campaign id of the entry')
    .option('--adopt <id>', "it was created, and this is the service's id")
    .option('--not-created', 'it was not created; the next apply creates it')
    .option('--checked', 'a frozen campaign was looked at; it may be written to again')
    .action(async (key: string, _options, command: Command) => {
      const { adopt, notCreated, checked } = command.optsWithGlobals<Options>()
      if ([adopt, notCreated, checked].filter((given) => given !== undefined).length !== 1)
        throw new FeedsyncError('say one of --adopt ID, --not-created and --checked', {
          hint: 'feedsyncd campaigns status tells which one fits',
          exitCode: EXIT.usage,
        })
      await withReconciler(context, command, async (reconciler) => {
        const { store } = reconciler
        if (checked) return thaw(context, reconciler, key)
        const intent = store.intents().find((one) => one.key === key && isUnknown(one))
        if (intent === undefined)
          throw new FeedsyncError(`no create of ${key} has an unknown outcome`, {
            hint: 'feedsyncd campaigns status lists those that have',
          })
        if (adopt !== undefined) return remember(context, reconciler, key, adopt, intent)
        store.atomically(() => {
          store.settle(intent.id, 'not-created', 'resolved by a person')
          const at = context.clock.now()
          const by = { cause: 'resolve --not-created', detail: '' }
          store.audit({ at, key, campaignId: null, event: 'not-created', ...by })
        })
        context.out(`${printable(key)} counts as not created; the next apply creates it`)
      })
    })
}

function thaw(context: Context, { store }: Reconciler, key: string): void {
  const record = store.record(key)
  if (record === null || record.frozen === null)
    throw new FeedsyncError(`no campaign of ${key} is frozen`, {
      hint: 'feedsyncd campaigns status lists those that are',
    })
  const { campaignId, frozen } = record
  store.atomically(() => {
    store.save({ ...record, frozen: null })
    const by = { event: 'checked', cause: 'resolve --checked', detail: frozen }
    store.audit({ at: context.clock.now(), key, campaignId, ...by })
  })
  context.out(`campaign ${printable(campaignId)} of ${printable(key)} is written to again`)
}

async function withReconciler(
  context: Context,
  command: Command,
  work: (reconciler: Reconciler) => Promise<void>,
): Promise<void> {
  const config = readConfig(context, command.optsWithGlobals<Options>().config)
  const { openReconciler } = await import('../app-campaigns.ts')
  await using reconciler = openReconciler(config, context)
  await reconciler.alone(() => work(reconciler))
  context.exit(EXIT.ok)
}

async function remember(
  context: Context,
  { store, api }: Reconciler,
  key: string,
  id: string,
  intent: CreateIntent | null,
): Promise<void> {
  const known = store.records().find((record) => record.key === key || record.campaignId === id)
  if (known !== undefined)
    throw new FeedsyncError(`campaign ${known.campaignId} belongs to ${known.key} already`, {
      hint: 'feedsyncd campaigns status lists what is managed',
    })
  const answer = await api.get(id, new AbortController().signal)
  if (answer.kind === 'failure') throw failureError(answer)
  const applied = intent?.remember ?? {}
  store.atomically(() => {
    store.save({
      ...{ key, campaignId: answer.value.id, applied, pending: applied.targeting ?? null },
      ...{ origin: intent === null ? 'adopted' : 'recovered', preventEnd: false, frozen: null },
    })
    if (intent !== null) store.settle(intent.id, 'adopted', 'resolved by a person')
    const cause = intent === null ? 'adopt' : 'resolve --adopt'
    const entry = { key, campaignId: answer.value.id, event: 'adopted', cause, detail: '' }
    store.audit({ at: context.clock.now(), ...entry })
  })
  context.out(`campaign ${printable(answer.value.id)} belongs to ${printable(key)} now`)
  if (intent === null)
    context.err(
      'it is observed; to manage it write its campaignId and adopt: takeover into the entry',
    )
}

const isUnknown = ({ state }: CreateIntent) => state === 'sending' || state === 'unknown'
