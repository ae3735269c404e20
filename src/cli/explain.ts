// feedsyncd explain: why a path is where it is. Checks folder, rules and history in the order of the daemon, and
// prints the first that decides.

import { existsSync } from 'node:fs'
import { isAbsolute, normalize, resolve } from 'node:path'
import type { Command } from 'commander'
import { openStatus, pathInInbox } from '../app/queries.ts'
import type { Config } from '../config/config.ts'
import { nextStep, nextText } from '../ops/advice.ts'
import type { Context } from './context.ts'
import { define } from './define.ts'
import { printable } from './render.ts'
import { coloured } from './status-view.ts'

export function explainCommand(context: Context): Command {
  const text =
    'why a path is where it is: ignored by which rule, settling until when, which version'
  return define(context, 'explain', text, async (call, given: string) => {
    const { commandLine, config, show } = call
    using status = openStatus(config, context.clock, context.env)
    const found = await status.explain(pathOf(config, given))
    const byState =
      found.upload && nextText(nextStep(found.upload, context.clock.now(), commandLine))
    const next = found.next ?? byState
    show({ ...found, next }, () => {
      const text = `${printable(found.path)}: ${printable(found.because)}`
      const { upload } = found
      const why = upload === null ? text : coloured(text, upload, context.terminal)
      return next === null ? why : `${why}\nnext: ${printable(next)}`
    })
  }).argument('<path>', 'a path in the inbox, relative to it or not')
}

/**
 * The current folder may have a file of the same name: only one inside the inbox is meant. What leads upwards is
 * relative to the current folder, since no path in the inbox does.
 */
function pathOf(config: Config, given: string): string {
  const path = pathInInbox(config, resolve(given))
  const isUpwards = normalize(given).startsWith('../')
  const isMeant = isAbsolute(given) || isUpwards || (existsSync(given) && !isAbsolute(path))
  return isMeant ? path : given
}
