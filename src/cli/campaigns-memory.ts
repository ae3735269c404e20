// feedsyncd campaigns adopt/resolve: what a person says about one campaign.

import { Command } from 'commander'
import type { Reconciler } from '../app-campaigns.ts'
import { keptRun } from '../app-tools.ts'
import type { CreateIntent } from '../campaigns/port.ts'
import { HOUR, isoTime } from '../lib/clock.ts'
import { FeedsyncError } from '../lib/errors.ts'
import { failureError } from './campaigns-view.ts'
import { type Context, readConfig } from './context.ts'
import { EXIT } from './exit-codes.ts'
import { printable } from './render.ts'

interface Options {
  config?: string
  adopt?: string
  notCreated?: boolean
  checked?: boolean
  recreate?: boolean
}

/** research/reconcile.md section 3.3. */
const GONE_AFTER_MS = HOUR

export function memoryCommands(context: Context): Command[] {
  return [adoptCommand(context), resolveCommand(context)]
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
    .option('--recreate', 'the service lost it; the next apply makes a new one')
    .option('--checked', 'a frozen campaign was looked at; it may be written to again')
    .action(async (key: string, _options, command: Command) => {
      const { adopt, notCreated, checked, recreate } = command.optsWithGlobals<Options>()
      if ([adopt, notCreated, checked, recreate].filter((one) => one !== undefined).length !== 1)
        throw new FeedsyncError('say one of --adopt ID, --not-created, --recreate and --checked', {
          hint: 'feedsyncd campaigns status tells which one fits',
          exitCode: EXIT.usage,
        })
      await withReconciler(context, command, async (reconciler) => {
        const { store } = reconciler
        if (checked) return thaw(context, reconciler, key)
        if (recreate) return recreateLost(context, reconciler, key)
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

/** A 404 soon after a write proves nothing: it must have been gone for a while, in complete listings. */
async function recreateLost(context: Context, reconciler: Reconciler, key: string): Promise<void> {
  const { store, list } = reconciler
  const { clock } = context
  const record = store.record(key)
  if (record === null)
    throw new FeedsyncError(`no campaign of ${key} is known`, {
      hint: 'feedsyncd campaigns status lists what is managed',
    })
  const { campaignId, missingSince = null } = record
  const listing = await list(new AbortController().signal)
  if (listing.kind === 'failure') throw failureError(listing)
  if (listing.campaigns.has(campaignId))
    throw new FeedsyncError(`campaign ${campaignId} of ${key} is there`, {
      hint: 'feedsyncd campaigns plan tells what differs',
    })
  if (listing.kind === 'incomplete')
    throw new FeedsyncError(`whether it is gone cannot be told: ${listing.reason}`, {
      hint: 'try again later',
      exitCode: EXIT.temporary,
    })
  if (missingSince === null || clock.now() - missingSince < GONE_AFTER_MS) {
    const since = missingSince ?? clock.now()
    if (missingSince === null) store.save({ ...record, missingSince: since })
    throw new FeedsyncError(`campaign ${campaignId} of ${key} may only be hard to find`, {
      hint: `it counts as gone when it is still missing at ${isoTime(since + GONE_AFTER_MS)}; run this again then`,
      exitCode: EXIT.temporary,
    })
  }
  store.atomically(() => {
    store.recreate(key)
    const by = { event: 'recreate', cause: 'resolve --recreate', detail: 'the service lost it' }
    store.audit({ at: clock.now(), key, campaignId, ...by })
  })
  context.out(`campaign ${printable(campaignId)} of ${printable(key)} counts as lost`)
  context.err('the next feedsyncd campaigns apply makes a new one')
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
  const { store } = reconciler
  const run = keptRun(store)
  const waiting = run?.waiting.filter(({ key }) => key !== command.args[0])
  if (run !== null) store.keepRun(JSON.stringify({ ...run, waiting }))
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
