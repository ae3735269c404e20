// What an operator sees of a site.

import { openStatus } from '../../src/app/queries.ts'
import type { Config } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Explanation } from '../../src/history/explain.ts'
import type { StatusReport } from '../../src/history/report.ts'
import type { Site } from './site.ts'

/** What `status --json` prints, without the cost of a process: for waiting. */
export function statusOf(site: Site): StatusReport {
  using status = openStatus(configOf(site), site.clock, site.runtime)
  return status.report({})
}

/** What `explain PATH` says, in the same way. */
export async function explained(site: Site, path: string): Promise<Explanation> {
  using status = openStatus(configOf(site), site.clock, site.runtime)
  return await status.explain(path)
}

/** The states that a version went through. */
export function trail(site: Site, id: number): string[] {
  return site.show(id).events.map(({ to }) => to)
}

function configOf(site: Site): Config {
  return loadConfig(site.configFile, {}).config
}
