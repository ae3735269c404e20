// feedsyncd backup copies the history while the daemon runs.

import { resolve } from 'node:path'
import type { Command } from 'commander'
import { backUpHistory } from '../app/backup.ts'
import { findConfig } from '../config/load.ts'
import { formatBytes } from '../lib/units.ts'
import type { Context } from '../terminal/context.ts'
import { define } from '../terminal/define.ts'

export function backupCommand(context: Context): Command {
  return define<object>(
    context,
    'backup',
    'copy the history to a file, also while the daemon runs',
    async ({ config, options, show }, to: string) => {
      const file = resolve(to)
      const configFile = findConfig(options.config, context.env)
      const bytes = await backUpHistory(config, { configFile, to: file })
      show({ file, bytes }, () => `the history is in ${file} (${formatBytes(bytes)})`)
    },
  ).argument('<file>', 'the copy; an existing file is replaced when the new copy is complete')
}
