// feedsyncd release, discard and restore record an operator's decision about a version.

import type { Command } from 'commander'
import { acceptFolder, carryOut, type Deed, openForDecisions } from '../app/decisions.ts'
import { isLocked } from '../history/instance-lock.ts'
import type { Version } from '../history/port.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { personName } from '../lib/user.ts'
import { uploadReports } from '../ops/report.ts'
import type { Context } from './context.ts'
import { define, versionId } from './define.ts'
import { printable } from './render.ts'

type Name = Exclude<Deed, 'retry'>

const DESCRIPTIONS: Record<Name, string> = {
  release: 'deliver a version that a guard held',
  discard: 'never deliver a version that is held, waiting or failed; dismiss a rejected one',
  restore: 'deliver an earlier version again as a new version',
}

export const NO_DAEMON = 'no daemon is running: the delivery starts when a daemon starts'

export function decisionCommand(name: Name, context: Context): Command {
  const command = define<{ lostHistory?: boolean }>(
    context,
    name,
    DESCRIPTIONS[name],
    async ({ config, options, show }, id?: number) => {
      if ((id === undefined) === (options.lostHistory === undefined)) {
        command.error('error: give an id or --lost-history', { exitCode: EXIT.usage })
      }
      using history = openForDecisions(config, context.clock)
      const deciding = { by: personName(context.env), now: context.clock.now() }
      const versions =
        id === undefined
          ? requireLostHistory(acceptFolder(history, deciding))
          : [carryOut(history, { deed: name, id }, deciding)]
      const reports = versions.map(uploadReports(history))
      const lines = versions.map(({ feed, id, state }) => `version ${id} of ${feed} is ${state}`)
      const none = 'nothing was held; feeds are delivered as usual from now on'
      show(id === undefined ? { released: reports } : (reports[0] ?? {}), () =>
        lines.length === 0 ? none : lines.map(printable).join('\n'),
      )
      const isToSend = versions.some(({ state }) => state === 'queued')
      if (!options.json && isToSend && !isLocked(config.state.directory)) context.err(NO_DAEMON)
    },
  )
  if (name !== 'release') return command.argument('<id>', 'the id that status prints', versionId)
  const all = 'release every version that is held because the history was lost'
  return command
    .argument('[id]', 'the id that status prints', versionId)
    .option('--lost-history', all)
}

/** requireLostHistory returns the released versions. It throws `FeedsyncError` if no history was lost. */
function requireLostHistory(versions: Version[] | null): Version[] {
  if (versions !== null) return versions
  throw new FeedsyncError('release --lost-history: no history was lost here', {
    hint: 'see what is held and why: feedsyncd status',
  })
}
