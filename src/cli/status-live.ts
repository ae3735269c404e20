// `status --live`: whether the daemon lives, for what restarts containers. It needs no history, and says nothing of feeds.

import type { Config } from '../config/config.ts'
import { isLocked } from '../history/instance-lock.ts'
import { MINUTE } from '../lib/clock.ts'
import { isRecent } from '../lib/due.ts'
import { relativeTime } from '../lib/units.ts'
import { readDaemonFile } from '../ops/daemon-file.ts'
import type { Context } from './context.ts'

/** The loop says that it turns each 30 s. */
const SILENT_MS = 2 * MINUTE

/** 0: it holds its lock, and its loop turns; else 2. */
export function statusLive(
  config: Config,
  { clock, env }: Pick<Context, 'clock' | 'env'>,
): { code: number; line: string } {
  const { directory } = config.state
  if (!isLocked(directory)) return dead('the daemon is not running')
  const state = readDaemonFile(directory, env)
  if (state === null) return dead('the daemon has not said anything yet')
  const now = clock.now()
  const ago = relativeTime(new Date(state.heartbeatAt).toISOString(), now)
  return isRecent(state.heartbeatAt, now, SILENT_MS)
    ? { code: 0, line: `OK - the daemon lives (pid ${state.pid}), heartbeat ${ago}` }
    : dead(`the daemon (pid ${state.pid}) does nothing any more, heartbeat ${ago}`)
}

const dead = (why: string) => ({ code: 2, line: `CRITICAL - ${why}` })
