// feedsyncd campaigns forget: end the binding of an entry to its campaign.

import type { Command } from 'commander'
import { forget } from '../../campaigns/forget.ts'
import { COMMAND } from '../../campaigns/judge.ts'
import { hintText } from '../../ops/advice.ts'
import type { Context } from '../context.ts'
import { define } from '../define.ts'
import { printable } from '../render.ts'
import { byWhom, checkKey } from './command.ts'

export function forgetCommand(context: Context): Command {
  const text =
    'end the binding of an entry to its campaign, or settle its unknown create; sends nothing'
  return define(context, 'forget', text, async ({ config, show, commandLine }, key: string) => {
    const { openWriter } = await import('../../app/campaigns.ts')
    await using writer = await openWriter(config, context)
    const { store } = writer
    const creates = store.openCreates()
    const known = [...store.bindings(), ...creates].map((one) => one.key)
    checkKey(known, key, 'campaign and no open create')
    const campaignId = forget(store, key, context.clock.now(), byWhom(context, `forget ${key}`))
    const result =
      campaignId === null
        ? `${key}: its create now counts as failed`
        : `${key}: campaign ${campaignId} no longer belongs to this entry and continues unchanged; nothing was sent`
    const next = hintText(`${COMMAND} plan`, commandLine)
    show({ key, campaignId, next }, () => [result, `next: ${next}`].map(printable).join('\n'))
  }).argument('<key>', 'external campaign id of the entry')
}
