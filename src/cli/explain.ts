// feedsyncd explain: why a path is where it is. Checks folder, rules and history in the order of the daemon, and
// prints the first that decides.

import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { Command } from 'commander'
import { openStatus, pathInInbox } from '../app/queries.ts'
import type { Config } from '../config/config.ts'
import type { Explanation } from '../history/explain.ts'
import { nextStep, nextText } from '../ops/advice.ts'
import { commandLineHere } from './command-line.ts'
import { type Context, outJson, readConfig } from './context.ts'
import { printable } from './render.ts'

export function explainCommand(context: Context): Command {
  return new Command('explain')
    .description(
      'why a path is where it is: ignored by which rule, settling until when, which version',
    )
    .argument('<path>', 'a path in the inbox, relative to it or not')
    .option('--json', 'as JSON')
    .action(async (given: string, _options, command: Command) => {
      const options = command.optsWithGlobals<{ config?: string; json?: boolean }>()
      const config = readConfig(context, options.config)
      using status = openStatus(config, context.clock, context.env)
      const found = await status.explain(pathOf(config, given))
      const { clock, env } = context
      const line = commandLineHere(env, options.config)
      const byState = found.upload && nextText(nextStep(found.upload, clock.now(), line))
      const explanation = { ...found, next: found.next ?? byState }
      if (options.json) outJson(context, explanation)
      else context.out(explanationText(explanation))
    })
}

/** The current folder may have a file of the same name: only one inside the inbox is meant. */
function pathOf(config: Config, given: string): string {
  const path = pathInInbox(config, resolve(given))
  const isMeant = isAbsolute(given) || (existsSync(given) && !isAbsolute(path))
  return isMeant ? path : given
}

function explanationText({ path, because, next }: Explanation): string {
  const lines = [`${printable(path)}: ${printable(because)}`]
  if (next !== null) lines.push(`next: ${printable(next)}`)
  return lines.join('\n')
}
