// feedsyncd campaigns: the group of commands about campaigns.

import { Command } from 'commander'
import type { Context } from '../../terminal/context.ts'
import { applyCommand, exportCommand, planCommand } from './apply-command.ts'
import { coversCommand, whyCommand } from './covers-command.ts'
import { createCommand, getCommand, searchCommand, updateCommand } from './direct-command.ts'
import { forgetCommand } from './forget-command.ts'
import { previewCommand } from './preview-command.ts'
import { historyCommand, statusCommand } from './status-command.ts'

export function campaignsCommand(context: Context): Command {
  const group = new Command('campaigns').description(
    'manage the campaigns on the service with a campaigns file, or directly',
  )
  const ofFile = [planCommand, applyCommand, statusCommand, coversCommand, whyCommand]
  for (const command of [...ofFile, previewCommand, historyCommand, exportCommand, forgetCommand])
    group.addCommand(command(context))
  for (const command of [searchCommand, getCommand, createCommand, updateCommand])
    group.addCommand(command(context).helpGroup('Direct calls of the service, without the file:'))
  return group
}
