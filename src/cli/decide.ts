// feedsyncd release, discard, restore: an operator's decision about a version.

import { Command } from 'commander'
import { type Decisions, openDecisions } from '../app/decisions.ts'
import type { Decided, Decision } from '../history/decisions.ts'
import type { Version } from '../history/port.ts'
import { uploadReport } from '../history/report.ts'
import { FeedsyncError } from '../lib/errors.ts'
import { versionId } from './arguments.ts'
import { type Context, outJson, readConfig } from './context.ts'
import { EXIT } from './exit-codes.ts'
import { printable } from './render.ts'

type Name = Exclude<Decision, 'retry'> | 'restore'

const DESCRIPTIONS: Record<Name, string> = {
  release: 'deliver a version that a guard held',
  discard: 'never deliver a version that is held, waiting or failed',
  restore: 'deliver an earlier version again, as a new one',
}

export const NO_DAEMON = 'no daemon is running: the delivery starts with the next one'

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
        'instead of an id: everything that is held because the history was lost',
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
      const versions = id === undefined ? released(decisions) : [decided(decisions, name, id)]
      const reports = versions.map((version) => uploadReport(version))
      if (!json) tell(context, versions, decisions.daemonRuns)
      else outJson(context, id === undefined ? { released: reports } : (reports[0] ?? {}))
    })
}

function decided(decisions: Decisions, name: Name, id: number): Version {
  return versionOf(name === 'restore' ? decisions.restore(id) : decisions.decide(id, name))
}

/** Throws `FeedsyncError` where the decision does not apply to the version. */
export function versionOf(result: Decided): Version {
  if (result.kind === 'done') return result.version
  throw new FeedsyncError(result.reason, { hint: result.hint })
}

function released(decisions: Decisions): Version[] {
  const versions = decisions.acceptFolder()
  if (versions !== null) return versions
  throw new FeedsyncError('release --lost-history: no history was lost here', {
    hint: 'feedsyncd status shows what is held and why',
  })
}

function tell(context: Context, versions: readonly Version[], daemonRuns: boolean): void {
  for (const { feed, id, state } of versions)
    context.out(printable(`version ${id} of ${feed} is ${state}`))
  if (versions.length === 0) context.out('nothing was held; feeds are delivered as usual again')
  if (!daemonRuns && versions.some(({ state }) => state === 'queued')) context.err(NO_DAEMON)
}
