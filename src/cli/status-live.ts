// `status --live` says whether the daemon is alive, for programs that restart containers. It reads neither
// the history nor feeds.

import type { Config } from '../config/config.ts'
import { isLocked } from '../history/instance-lock.ts'
import { MINUTE } from '../lib/clock.ts'
import { isRecent } from '../lib/due.ts'
import { relativeTime } from '../lib/units.ts'
import { readDaemonFile } from '../ops/daemon-file.ts'
import type { Context } from '../terminal/context.ts'

/** If the heartbeat is older, the daemon's loop is stuck: it writes a heartbeat every 30 s. */
const SILENT_MS = 2 * MINUTE

/** statusLive returns exit code 0 if the daemon holds its lock and its heartbeat is recent, else 2. */
export function statusLive(
  config: Config,
  { clock, env }: Context,
): { code: number; line: string } {
  const { directory } = config.state
  if (!isLocked(directory)) return dead('the daemon is not running')
  const state = readDaemonFile(directory, env)
  if (state === null) return dead('the daemon has not written its state yet')
  const now = clock.now()
  const ago = relativeTime(new Date(state.heartbeatAt).toISOString(), now)
  return isRecent(state.heartbeatAt, now, SILENT_MS)
    ? { code: 0, line: `OK - the daemon is alive (pid ${state.pid}), heartbeat ${ago}` }
    : dead(`the daemon (pid ${state.pid}) is hung, heartbeat ${ago}`)
}

const dead = (why: string) => ({ code: 2, line: `CRITICAL - ${why}` })
