// Reports of `status` for the tests of what renders them. Their problems are judged as the program judges them.

import { MINUTE } from '../../../src/lib/clock.ts'
import type { CommandLine } from '../../../src/ops/port.ts'
import { problems } from '../../../src/ops/problems.ts'
import type { StatusReport } from '../../../src/ops/report.ts'

export const NOW = Date.UTC(2026, 10, 20, 12)

/** at returns the ISO time of some minutes before NOW. */
export const at = (minutesAgo: number) => new Date(NOW - minutesAgo * MINUTE).toISOString()

type Over = Partial<Omit<StatusReport, 'daemon' | 'problems' | 'service'>> & {
  daemon?: Partial<StatusReport['daemon']>
  service?: Partial<StatusReport['service']>
}

/** statusWith returns the report of a daemon that runs well and has no feed, with these differences. */
export function statusWith(
  { daemon, service, ...over }: Over = {},
  commandLine: CommandLine = (command) => `feedsyncd ${command}`,
): StatusReport {
  const report: Omit<StatusReport, 'problems'> = {
    daemon: {
      ...{ running: true, pid: 7, startedAt: at(60), heartbeatAt: at(0), lastScanAt: at(0) },
      ...({ mode: 'events', modeReason: null, conditions: [], unfinished: [] } as const),
      ...{ ignored: { count: 0, paths: [] }, startWith: null, historyIsMissing: false },
      ...{ unit: null, staleAfterMs: 5 * MINUTE, exposedAt: null, ...daemon },
    },
    service: {
      ...({ baseUrl: 'https://api.example.com', state: 'ok', reason: null } as const),
      ...{ since: at(60), clockSkewMs: 0, ...service },
    },
    ...{ uploads: [], owed: [], skipped: [], paused: null, pausedFeeds: [], campaigns: null },
    ...over,
  }
  const versions = [...report.uploads, ...report.owed]
  return { ...report, problems: problems({ ...report, versions }, { now: NOW, commandLine }) }
}
