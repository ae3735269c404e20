// feedsyncd forget hides a feed that has no file in the inbox from status, the page and monitoring.

import type { Command } from 'commander'
import { forgetFeed, openForDecisions } from '../app/decisions.ts'
import { printable } from '../lib/printable.ts'
import type { Context } from '../terminal/context.ts'
import { define, unknownName } from '../terminal/define.ts'

export function forgetCommand(context: Context): Command {
  const text = 'hide a feed that has no file in the inbox, until a new file comes'
  return define(context, 'forget', text, async (call, feed: string) => {
    using history = openForDecisions(call.config, context.clock)
    if (history.newest(feed) === null) {
      const known = history.list({}).map((version) => version.feed)
      throw unknownName('feed', feed, { known })
    }
    forgetFeed(history, feed, context.clock.now())
    call.show({ feed }, () => `${printable(feed)} is forgotten until a new file comes`)
  }).argument('<feed>', 'the feed, as status names it')
}
