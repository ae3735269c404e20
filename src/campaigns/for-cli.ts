// All that the command line knows of campaigns. It loads what it needs at the first use.

import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import type { Context } from '../terminal/context.ts'

/** campaignsCommand returns the group of commands about campaigns. */
export async function campaignsCommand(context: Context): Promise<Command> {
  return (await import('./commands/campaigns.ts')).campaignsCommand(context)
}

export async function campaignsJsonSchema(): Promise<object> {
  return (await import('./file-schema.ts')).campaignsJsonSchema()
}

/** campaignKeys returns the keys of all entries that the daemon saw last or that have a campaign. */
export async function campaignKeys(config: Config): Promise<string[]> {
  return (await import('./last-known.ts')).campaignKeys(config)
}
