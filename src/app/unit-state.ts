// Asks systemd how the unit of a configuration ended last, because a start can fail again in the same way.

import { execFileSync } from 'node:child_process'
import { DEFAULT_FILE } from '../config/load.ts'
import { unitOf } from '../config/unit.ts'
import { commandFor } from '../domain/command.ts'
import { SECOND } from '../lib/clock.ts'
import type { CommandLine } from '../ops/port.ts'
import type { UnitState } from '../ops/report.ts'

const TIMEOUT_MS = 2 * SECOND

/** unitState returns null if no unit has this configuration. It asks systemd only with `isAsked`. */
export function unitState(
  commandLine: CommandLine,
  { env, isAsked }: { env: NodeJS.ProcessEnv; isAsked: boolean },
): UnitState | null {
  const name = unitOfRun(commandLine(commandFor('run')), env.FEEDSYNCD_CONFIG)
  if (name === null) return null
  const unknown = { name, result: null, exitStatus: null }
  if (!isAsked) return unknown
  try {
    const asked = ['show', '-p', 'LoadState,Result,ExecMainStatus', name]
    const stdio: ('ignore' | 'pipe')[] = ['ignore', 'pipe', 'ignore']
    const options = { encoding: 'utf8', env, stdio, timeout: TIMEOUT_MS } as const
    const text = execFileSync('systemctl', asked, options)
    const fields = Object.fromEntries(text.split('\n').map((line) => line.split('=', 2)))
    if (fields.LoadState !== 'loaded') return unknown
    return { name, result: fields.Result ?? null, exitStatus: Number(fields.ExecMainStatus) || 0 }
  } catch {
    // There is no systemd, or it does not answer this user.
    return unknown
  }
}

/**
 * unitOfRun returns the unit that this command belongs to; null if it belongs to none. A command that names no file uses
 * `configured`, or the default.
 */
export function unitOfRun(run: string, configured = DEFAULT_FILE): string | null {
  const [, file = configured] = /^feedsyncd run(?: --config (\S+))?$/.exec(run) ?? [null, '']
  const unit = unitOf(file)
  return file === DEFAULT_FILE || unit !== 'feedsyncd' ? unit : null
}
