// What an operator sees of a site, and a daemon within the test's own
// process, for what no other process can be made to see: another clock.

import { openApp } from '../../src/app/app.ts'
import { openStatus } from '../../src/app/tools.ts'
import type { Config } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Explanation } from '../../src/history/explain.ts'
import type { StatusReport } from '../../src/history/report.ts'
import type { Clock } from '../../src/lib/clock.ts'
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

export interface DaemonWithin extends AsyncDisposable {
  /** What a person was told. */
  problems: string[]
}

export async function daemonWithin(site: Site, clock: Clock): Promise<DaemonWithin> {
  const problems: string[] = []
  const notifyOperator = (message: string) => problems.push(message)
  const app = await openApp(configOf(site), { clock, env: {}, notifyOperator })
  const end = new AbortController()
  const running = app.daemon.run({ once: false, stop: end.signal, abort: end.signal })
  return {
    problems,
    async [Symbol.asyncDispose]() {
      end.abort()
      await running
      await app[Symbol.asyncDispose]()
    },
  }
}

/** What `run --once` does, within this process. */
export async function onceWithin(site: Site, clock: Clock): Promise<void> {
  await using app = await openApp(configOf(site), { clock, env: {}, notifyOperator: () => {} })
  const { signal } = new AbortController()
  await app.daemon.run({ once: true, stop: signal, abort: signal })
}

function configOf(site: Site): Config {
  const loaded = loadConfig(site.configFile, {})
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems))
  return loaded.config
}
