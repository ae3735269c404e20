// Reads what the history knows of the campaigns, without a request to the service.

import { existsSync } from 'node:fs'
import { type Config, historyFile } from '../config/config.ts'
import type { CampaignRun } from '../ops/campaigns/run.ts'
import { accountOf } from './account.ts'
import type { Binding, CampaignReader } from './port.ts'
import { openCampaignReader } from './store.ts'

/** readCampaigns opens the history, and returns the result of `read`. Without a history it returns `none`. */
export function readCampaigns<T>(config: Config, read: (known: CampaignReader) => T, none: T): T {
  using known = openCampaignReader({ file: historyFile(config), account: accountOf(config).name })
  return known === null ? none : read(known)
}

interface LastKnown {
  bindings: readonly Binding[]
  /** The daemon's last look; null if the daemon never looked. */
  run: CampaignRun | null
}

/** lastKnown reads from the history which campaigns belong to entries, and the daemon's last look. */
export function lastKnown(config: Config): LastKnown {
  const read = (known: CampaignReader) => ({ bindings: known.bindings(), run: known.lastRun() })
  return readCampaigns(config, read, { bindings: [], run: null })
}

/** lastCampaignRun returns the daemon's last look; null if the daemon never looked, or if no campaign is managed. */
export function lastCampaignRun(config: Config): CampaignRun | null {
  const { file, explicit } = config.campaigns
  // A file that is missing while campaigns are bound is a problem, which the last look reports.
  const isOn = explicit || existsSync(file)
  const read = (known: CampaignReader) =>
    isOn || known.bindings().length > 0 ? known.lastRun() : null
  return readCampaigns(config, read, null)
}

/** campaignKeys returns the keys of all entries that the daemon saw last or that have a campaign. */
export function campaignKeys(config: Config): string[] {
  const { bindings, run } = lastKnown(config)
  const all = [...(run?.entries ?? []), ...bindings]
  return [...new Set(all.map(({ key }) => key))]
}
