// feedsyncd campaigns forget: end the binding of an entry to its campaign.

import type { Command } from 'commander'
import { commandFor } from '../../domain/command.ts'
import { isoTime } from '../../lib/clock.ts'
import { printable } from '../../lib/printable.ts'
import type { Context } from '../../terminal/context.ts'
import { define } from '../../terminal/define.ts'
import { type Forgotten, forget, forgettable } from '../forget-entry.ts'
import { readCampaigns } from '../last-known.ts'
import { LATE_MS, openText } from '../open-creation.ts'
import { askToConfirm, byWhom } from './confirm.ts'
import { checkKey } from './named-entries.ts'

export function forgetCommand(context: Context): Command {
  const text = 'end the binding of an entry to its campaign; sends nothing'
  return define<{ yes?: boolean }>(context, 'forget', text, async (call, key: string) => {
    const { config, show, commandLine, options } = call
    const { openWriter } = await import('../writer.ts')
    const now = context.clock.now()
    const { open } = readCampaigns(config, (known) => forgettable(known, key, now), NOTHING)
    // A person might think that `forget` cancels the open creation.
    if (open !== null && !options.yes) {
      const question = 'forget it? [y/N] '
      if (!(await askToConfirm(context, stillOpen(key, open), { hint: HINT, question }))) return
    }
    await using writer = await openWriter(config, context)
    const { store } = writer
    const creations = store.openCreations()
    const known = [...store.bindings(), ...creations].map((one) => one.key)
    checkKey(known, key, 'campaign and no open creation')
    const found = forget(store, { key, at: now, by: byWhom(context, `forget ${key}`) })
    const next = commandLine(commandFor('campaigns plan'))
    const { campaignId } = found
    show({ key, campaignId, next }, () =>
      [resultText(key, found), `next: ${next}`].map(printable).join('\n'),
    )
  })
    .argument('<key>', 'external campaign id of the entry')
    .option('--yes', 'do not ask, even if nobody knows whether its campaign was created')
}

const NOTHING: Forgotten = { campaignId: null, open: null }
const HINT = 'repeat the command with --yes'

const stillOpen = (key: string, open: NonNullable<Forgotten['open']>) =>
  `${openText(open, `a campaign for ${key}`)}. Even after forget, it creates no other campaign for ${key} before ${isoTime(open.at + LATE_MS)}`

function resultText(key: string, { campaignId, open }: Forgotten): string {
  if (campaignId !== null)
    return `${key}: campaign ${campaignId} no longer belongs to this entry and continues unchanged; nothing was sent`
  return open === null
    ? `${key}: the campaign that feedsyncd sent for it now counts as not created`
    : stillOpen(key, open)
}
