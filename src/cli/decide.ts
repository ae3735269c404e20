// feedsyncd release, discard, retry, restore: what a person decides about a version.

import { Command } from 'commander'
import { openDecisions } from '../app-decisions.ts'
import type { Decision } from '../history/decisions.ts'
import { uploadReport } from '../history/report.ts'
import { FeedsyncError } from '../lib/errors.ts'
import { versionId } from './arguments.ts'
import { type Context, outJson, readConfig } from './context.ts'
import { EXIT } from './exit-codes.ts'

type Name = Decision | 'restore'

const DESCRIPTIONS: Record<Name, string> = {
  release: 'deliver a version that a guard held',
  discard: 'never deliver a version that is held, waiting or failed',
  retry: 'try a failed or waiting version again now',
  restore: 'deliver an earlier version again, as a new one',
}

export function decisionCommand(name: Name, context: Context): Command {
  return new Command(name)
    .description(DESCRIPTIONS[name])
    .argument('<id>', 'the id that status prints', versionId)
    .option('--json', 'the version, as in status --json')
    .action((id: number, _options, command: Command) => {
      const { config, json } = command.optsWithGlobals<{ config?: string; json?: boolean }>()
      using decisions = openDecisions(readConfig(context, config), context.clock)
      const decided = name === 'restore' ? decisions.restore(id) : decisions.decide(id, name)
      if (decided.kind === 'refused')
        throw new FeedsyncError(decided.reason, { hint: decided.hint })
      const { version } = decided
      if (json) outJson(context, uploadReport(version))
      else {
        context.out(`version ${version.id} of ${version.feed} is ${version.state}`)
        if (!decisions.daemonRuns && version.state === 'queued') {
          context.err('no daemon runs here: it is delivered when one is started')
        }
      }
      context.exit(EXIT.ok)
    })
}
