// feedsyncd campaigns adopt/resolve/forget, and create KEY --new: what a person says about one campaign.

import type { Command } from 'commander'
import type { Decider } from '../../campaigns/decide.ts'
import type { PersonParts } from '../../campaigns/send.ts'
import type { Decision } from '../../campaigns/word.ts'
import type { Context } from '../context.ts'
import { type Call, define, usageError } from '../define.ts'
import { printable, table } from '../render.ts'
import { alone } from './command.ts'

interface Adopt {
  marked?: boolean
  yes?: boolean
}

interface Resolve {
  revert?: boolean
  accept?: boolean
  checked?: boolean
  adopt?: string
  notCreated?: boolean
  recreate?: boolean
}

export function adoptCommand(context: Context): Command {
  const text = 'say that an existing campaign belongs to an entry; nothing is written to it'
  return define<Adopt>(context, 'adopt', text, async (call, key?: string, id?: string) => {
    if (call.options.marked && key === undefined) return adoptMarked(call)
    if (key === undefined || id === undefined)
      throw usageError(
        'name the entry and the campaign, or --marked',
        'feedsyncd campaigns adopt NUR-Q1 48211',
      )
    await decide(call, key, `adopt ${key} ${id}`, (decider) => decider.adopt(key, id))
  })
    .argument('[key]', 'external campaign id of the entry')
    .argument('[id]', "the service's id of the campaign")
    .option('--marked', 'all campaigns that carry the mark of an entry; shows them first')
    .option('--yes', 'with --marked: adopt what it shows')
}

async function adoptMarked(call: Call<Adopt>): Promise<void> {
  const { yes = false } = call.options
  const { Decider } = await import('../../campaigns/decide.ts')
  await alone(call, 'adopt --marked', async (parts) => {
    const decider = new Decider(parts)
    const pairs = await decider.marked()
    if (yes) decider.adoptAll(pairs)
    const campaigns = pairs.map(({ key, campaign: { id, name = null } }) => {
      return { key, id, name }
    })
    const rows = campaigns.map(({ key, id, name }) => [key, id, name])
    const next = yes
      ? `${rows.length} adopted`
      : 'to adopt them: feedsyncd campaigns adopt --marked --yes'
    call.show({ adopted: yes, campaigns }, () =>
      rows.length === 0
        ? 'no campaign carries the mark of an entry that has none'
        : `${table(['key', 'id', 'name'], rows, null)}\n${next}`,
    )
  })
}

export function resolveCommand(context: Context): Command {
  const text = 'decide about a difference, a doubt, or a create whose outcome is unknown'
  return define<Resolve>(context, 'resolve', text, async (call, key: string) => {
    const { revert, accept, checked, adopt, notCreated, recreate } = call.options
    const said = Object.entries({
      ...{ revert, accept, checked },
      ...{ adopt, 'not-created': notCreated, recreate },
    }).filter(([, value]) => value !== undefined)
    const [chosen, another] = said
    if (chosen === undefined || another !== undefined)
      throw usageError(
        'say one of --revert, --accept, --checked, --adopt ID, --not-created and --recreate',
        'feedsyncd campaigns status tells which one applies',
      )
    const work = (decider: Decider) => {
      if (adopt !== undefined) return decider.adopt(key, adopt)
      if (checked) return decider.checked(key)
      if (revert || accept) return decider.settle(key, revert ? 'revert' : 'accept')
      return decider.isNew(key, true)
    }
    await decide(call, key, `resolve ${key} --${chosen[0]}`, work, { needsFile: !checked })
  })
    .argument('<key>', 'external campaign id of the entry')
    .option('--revert', 'what was changed on the service is written again as in the file')
    .option('--accept', 'what was changed on the service may stay so')
    .option('--checked', 'a campaign in doubt was looked at; it may be raised again')
    .option('--adopt <id>', 'the same as adopt KEY ID')
    .option(
      '--not-created',
      'as create KEY --new, of a create whose outcome is unknown; stops no campaign',
    )
    .option('--recreate', 'as create KEY --new, of a campaign that is gone; stops no campaign')
}

export function forgetCommand(context: Context): Command {
  const text = 'let a campaign go: it belongs to no entry any more, and nothing is written to it'
  const what = "external campaign id of the entry, or the service's id of a campaign in no entry"
  return define(context, 'forget', text, (call, key: string) =>
    decide(call, key, `forget ${key}`, (decider) => decider.forget(key), { needsFile: false }),
  ).argument('<key>', what)
}

/** `create KEY --new`. */
export const sayNew = (call: Call<unknown>, key: string): Promise<void> =>
  decide(call, key, `create ${key} --new`, (decider) => decider.isNew(key))

async function decide(
  call: Call<unknown>,
  key: string,
  command: string,
  work: (decider: Decider) => Decision | Promise<Decision>,
  file?: { needsFile: boolean },
): Promise<void> {
  const { Decider } = await import('../../campaigns/decide.ts')
  const say = async (parts: PersonParts) => {
    const { store } = parts
    const { text, campaignId } = await work(new Decider(parts))
    // What needed a person is decided; the next look tells what is left.
    const run = store.lastRun()
    if (run !== null)
      store.keepRun({ ...run, waiting: run.waiting.filter((one) => one.key !== key) })
    call.show({ decided: command, campaignId, text }, () => printable(text))
  }
  await alone(call, command, say, file)
}
