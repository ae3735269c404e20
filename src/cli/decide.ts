// feedsyncd release, discard, restore: what a person decides about a version.

import { Command } from 'commander'
import { type Decisions, openDecisions } from '../app/decisions.ts'
import type { Decision } from '../history/decisions.ts'
import type { Version } from '../history/port.ts'
import { uploadReport } from '../history/report.ts'
import { FeedsyncError } from '../lib/errors.ts'
import { versionId } from './arguments.ts'
import { type Context, outJson, readConfig } from './context.ts'
import { EXIT } from './exit-codes.ts'

type Name = Exclude<Decision, 'retry'> | 'restore'

const DESCRIPTIONS: Record<Name, string> = {
  release: 'deliver a version that a guard held',
  discard: 'never deliver a version that is held, waiting or failed',
  restore: 'deliver an earlier version again, as a new one',
}

interface Options {
  config?: string
  json?: boolean
  lostHistory?: boolean
}

export function decisionCommand(name: Name, context: Context): Command {
  const command = new Command(name).description(DESCRIPTIONS[name])
  if (name === 'release') {
    command
      .argument('[id]', 'the id that status prints', versionId)
      .option(
        '--lost-history',
        'instead of an id: all that is held only because the history was lost',
      )
  } else {
    command.argument('<id>', 'the id that status prints', versionId)
  }
  return command
    .option('--json', 'the version, as in status --json')
    .action((id: number | undefined, _options, command: Command) => {
      const { config, json, lostHistory } = command.optsWithGlobals<Options>()
      if ((id === undefined) === (lostHistory === undefined)) {
        command.error('error: name an id, or --lost-history', { exitCode: EXIT.usage })
      }
      using decisions = openDecisions(readConfig(context, config), context.clock)
      const versions = id === undefined ? accepted(decisions) : [decided(decisions, name, id)]
      if (json && id === undefined)
        outJson(context, { released: versions.map((one) => uploadReport(one)) })
      else if (json) for (const version of versions) outJson(context, uploadReport(version))
      else tell(context, versions, decisions.daemonRuns)
      context.exit(EXIT.ok)
    })
}

function decided(decisions: Decisions, name: Name, id: number): Version {
  const result = name === 'restore' ? decisions.restore(id) : decisions.decide(id, name)
  if (result.kind === 'done') return result.version
  throw new FeedsyncError(result.reason, { hint: result.hint })
}

function accepted(decisions: Decisions): Version[] {
  const released = decisions.acceptFolder()
  if (released !== null) return released
  throw new FeedsyncError('release what a lost history holds: no history was lost here', {
    hint: 'feedsyncd status shows what is held, and why',
  })
}

function tell(context: Context, versions: readonly Version[], daemonRuns: boolean): void {
  for (const { feed, id, state } of versions) context.out(`version ${id} of ${feed} is ${state}`)
  if (versions.length === 0)
    context.out('nothing was held; feeds are sent without a question again')
  if (!daemonRuns && versions.some(({ state }) => state === 'queued')) {
    context.err('no daemon runs here: it is delivered when one is started')
  }
}
