// What an operator sees of a site.

import { openStatus } from '../../src/app/queries.ts'
import type { Config } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { PathReport } from '../../src/ops/path-report.ts'
import type { StatusReport } from '../../src/ops/report.ts'
import { eventually } from './eventually.ts'
import type { Site } from './site.ts'

/** What `status --json` prints, without the cost of a process: for waiting. */
export function statusOf(site: Site): StatusReport {
  using status = openStatus(configOf(site), site.clock, site.runtime)
  return status.report({})
}

/** The path, once `status` says that it is skipped. */
export function untilSkipped(site: Site, path: string): Promise<StatusReport['skipped'][number]> {
  return eventually(() => {
    const { skipped } = statusOf(site)
    const found = skipped.find((one) => one.path === path)
    if (found === undefined) throw new Error(`not skipped: ${path}, but ${JSON.stringify(skipped)}`)
    return found
  })
}

/** What `show path:PATH` says, in the same way. */
export async function pathReportOf(site: Site, path: string): Promise<PathReport> {
  using status = openStatus(configOf(site), site.clock, site.runtime)
  const report = await status.path(path)
  if (report === null) throw new Error(`there is no file ${path}`)
  return report
}

/** The states that a version went through. */
export function trail(site: Site, id: number): string[] {
  return site.show(id).events.map(({ to }) => to)
}

function configOf(site: Site): Config {
  return loadConfig(site.configFile, {}).config
}
