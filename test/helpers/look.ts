// Reads a site as its operator sees it.

import { openStatus } from '../../src/app/open-status.ts'
import type { Config } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { PathReport } from '../../src/ops/path-report.ts'
import type { StatusReport } from '../../src/ops/report.ts'
import { eventually } from './eventually.ts'
import type { Site } from './site.ts'

/** statusOf returns the report of `status --json` without a process, so that a test can wait for a state. */
export function statusOf(site: Site): StatusReport {
  using status = openStatus(configOf(site), optionsOf(site))
  return status.report({})
}

export function untilSkipped(site: Site, path: string): Promise<StatusReport['skipped'][number]> {
  return eventually(() => {
    const { skipped } = statusOf(site)
    const found = skipped.find((one) => one.path === path)
    if (found === undefined) throw new Error(`not skipped: ${path}, but ${JSON.stringify(skipped)}`)
    return found
  })
}

/** pathReportOf returns the report of `show path:PATH` without a process. */
export async function pathReportOf(site: Site, path: string): Promise<PathReport> {
  using status = openStatus(configOf(site), optionsOf(site))
  const report = await status.path(path)
  if (report === null) throw new Error(`there is no file ${path}`)
  return report
}

/** trail returns the states of a version in order. */
export function trail(site: Site, id: number): string[] {
  return site.show(id).events.map(({ to }) => to)
}

function optionsOf({ clock, configFile, runtime }: Site) {
  const commandLine = (command: string) => `feedsyncd ${command} --config ${configFile}`
  return { clock, commandLine, env: runtime }
}

function configOf(site: Site): Config {
  return loadConfig(site.configFile, {}).config
}
