// feedsyncd service print: the systemd drop-in that the configured folders need.

import { statSync } from 'node:fs'
import { Command } from 'commander'
import { rowsOf } from '../ops/systemd/unit.ts'
import { unitDropin } from '../ops/systemd/unit-dropin.ts'
import { type Context, readConfig } from './context.ts'

export function serviceCommand(context: Context): Command {
  const service = new Command('service').description('feedsyncd under systemd')
  service
    .command('print')
    .description('print the drop-in that lets the packaged unit reach the configured folders')
    .action((_options, command: Command) => {
      const { config: flag } = command.optsWithGlobals<{ config?: string }>()
      const { inbox, state, http } = readConfig(context, flag)
      const { afterUpload, afterReject } = inbox
      const moves = [
        ...(afterUpload === 'archive' ? [inbox.archiveDirectory] : []),
        ...(afterReject === 'quarantine' ? [inbox.quarantineDirectory] : []),
      ]
      const text = unitDropin({
        inbox: inbox.directory,
        writesInbox: afterUpload !== 'keep' || afterReject !== 'keep' || inbox.receipts,
        targets: moves,
        state: state.directory,
        socket: http.listen?.kind === 'unix' ? http.listen.path : null,
        group: groupOf(inbox.directory),
      })
      context.out(text)
    })
  return service
}

/** Its name where /etc/group knows it; null for root's, or where the folder cannot be seen. */
function groupOf(path: string): string | null {
  const gid = statSync(path, { throwIfNoEntry: false })?.gid ?? 0
  if (gid === 0) return null
  return rowsOf('/etc/group').find(([, , id]) => id === String(gid))?.[0] ?? String(gid)
}
