// The state directory: the lock of this process, the conditions, the history, the spool, and the metrics.

import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { acquireLock } from '../history/instance-lock.ts'
import { openHistory } from '../history/sqlite-history.ts'
import { FeedsyncError } from '../lib/errors.ts'
import { createLog } from '../lib/log.ts'
import { VERSION } from '../lib/version.ts'
import { createSpool } from '../spool/spool.ts'
import type { AppOptions } from './app.ts'
import { conditionsOf } from './conditions.ts'
import { historyFile } from './queries.ts'
import { RunningUploads } from './running-uploads.ts'

/** A transaction of a command takes less; nothing else is attended to meanwhile. */
const BUSY_MS = 20

export type Storage = Awaited<ReturnType<typeof openStorage>>

/** Throws `FeedsyncError` when another process holds the lock, or the state cannot be written. */
export async function openStorage(
  config: Config,
  { clock, configFile = null, env, log: destination, notifyOperator }: AppOptions,
  owned: AsyncDisposableStack,
) {
  const { directory: stateDirectory } = config.state
  owned.use(lockOf(stateDirectory))
  const log = createLog({ ...config.log, destination })
  const uploads = new RunningUploads(clock)
  const conditions = conditionsOf({
    ...{ clock, configFile, env, log, stateDirectory, notifyOperator, uploads },
  })
  const file = historyFile(config)
  const metrics = config.http.listen === null ? null : await openMetrics(clock.now())
  return {
    log,
    conditions,
    metrics,
    uploads,
    history: owned.use(openHistory({ file, log, clock, busyTimeoutMs: BUSY_MS })),
    spool: createSpool(join(stateDirectory, 'spool')),
  }
}

/** Loaded only where somebody can ask for them: a library less in memory. */
async function openMetrics(startedAt: number) {
  const { createMetrics } = await import('../ops/metrics/metrics.ts')
  return createMetrics({ version: VERSION, startedAt })
}

/** sysexits.h: EX_TEMPFAIL. */
const TEMPORARY = 75

function lockOf(directory: string): Disposable {
  const lock = acquireLock(directory)
  if (lock !== null) return lock
  throw new FeedsyncError(`another feedsyncd runs with the state directory ${directory}`, {
    hint: 'wait until it is done, or stop it; or give this one another state.directory',
    exitCode: TEMPORARY,
  })
}
