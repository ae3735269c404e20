// The state that a daemon reports, for the tests of the parts that show it.

import type { DaemonState } from '../../../src/ops/port.ts'

export function daemonState(over: Partial<DaemonState> = {}): DaemonState {
  return {
    ...{ pid: 7, user: 'feedsyncd', startWith: null, logFile: null, startedAt: 1000 },
    ...{ heartbeatAt: 1000, lastScanAt: null, serviceSince: 1000 },
    ...({ mode: 'events', modeReason: null, service: 'ok', serviceReason: null } as const),
    ...{
      nextProbeAt: null,
      clockSkewMs: null,
      conditions: [],
      checks: null,
      uploads: {},
      unfinished: [],
    },
    ...{ ignored: { count: 0, paths: [] }, skipped: [] },
    ...over,
  }
}
