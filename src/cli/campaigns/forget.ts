// feedsyncd campaigns forget: the entry has no campaign any more.

import type { Command } from 'commander'
import { COMMAND } from '../../campaigns/judge.ts'
import type { CampaignStore } from '../../campaigns/port.ts'
import type { Context } from '../context.ts'
import { define } from '../define.ts'
import { printable } from '../render.ts'
import { byWhom, checkKey, pasted } from './command.ts'

export function forgetCommand(context: Context): Command {
  const text = 'let the campaign of an entry go, or settle its create; sends nothing'
  return define(context, 'forget', text, async ({ config, show, commandLine }, key: string) => {
    const { openWriter } = await import('../../app/campaigns.ts')
    await using writer = await openWriter(config, context)
    const { store } = writer
    const creates = store.openCreates()
    const known = [...store.bindings(), ...creates].map((one) => one.key)
    checkKey(known, key, 'no campaign and no open create belongs to')
    const campaignId = forget(store, key, context.clock.now(), byWhom(context, `forget ${key}`))
    const told =
      campaignId === null
        ? `${key}: its create counts as not carried out`
        : `${key}: campaign ${campaignId} does not belong to it any more and goes on as it is; nothing was sent`
    const next = pasted(commandLine, `${COMMAND} plan`)
    show({ key, campaignId, next }, () => [told, `next: ${next}`].map(printable).join('\n'))
  }).argument('<key>', 'external campaign id of the entry')
}

/** The campaign that was let go; null: there was none, only creates without a known end. */
function forget(store: CampaignStore, key: string, at: number, by: string): string | null {
  const campaignId = store.binding(key)?.campaignId ?? null
  store.atomically(() => {
    for (const create of store.openCreates())
      if (create.key === key) store.end(create.id, 'not-sent', 'a person settled it', at)
    const row = { at, key, campaignId, action: 'forget', body: null, before: {}, by } as const
    store.end(store.begin(row), 'done', null, at)
    if (campaignId !== null) store.release(campaignId, key)
    // The next look says how the entry is now.
    const run = store.lastRun()
    if (run !== null)
      store.keepRun({ ...run, entries: run.entries.filter((one) => one.key !== key) })
  })
  return campaignId
}
