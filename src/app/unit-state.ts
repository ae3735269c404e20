// Asks systemd how the unit of a configuration ended last, because a start can fail again in the same way.

import { execFileSync } from 'node:child_process'
import { DEFAULT_FILE } from '../config/load.ts'
import { instanceOf, unitOf } from '../config/unit.ts'
import { commandFor } from '../domain/command.ts'
import { SECOND } from '../lib/clock.ts'
import type { CommandLine } from '../ops/port.ts'
import type { UnitState } from '../ops/report.ts'

const TIMEOUT_MS = 2 * SECOND

/**
 * unitState returns the systemd unit that runs the daemon with this configuration, and the result of its last run; null
 * if no unit runs it. The result is null if `asksSystemd` is false or systemd does not answer.
 */
export function unitState(
  commandLine: CommandLine,
  { env, asksSystemd }: { env: NodeJS.ProcessEnv; asksSystemd: boolean },
): UnitState | null {
  const name = unitOfRun(commandLine(commandFor('run')), env.FEEDSYNCD_CONFIG)
  if (name === null) return null
  const unknown = { name, result: null, exitStatus: null }
  if (!asksSystemd) return unknown
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
 * unitOfRun returns the systemd unit that starts the daemon with the command `run`; null if no unit runs it.
 * `configured` is the configuration file of a command that names no file.
 */
export function unitOfRun(run: string, configured = DEFAULT_FILE): string | null {
  const [, file = configured] = /^feedsyncd run(?: --config (\S+))?$/.exec(run) ?? [null, '']
  const hasUnit = file === DEFAULT_FILE || instanceOf(file) !== null
  return hasUnit ? unitOf(file) : null
}
