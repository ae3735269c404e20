// Reports once that systemd's watchdog restarted the daemon. A daemon that hangs cannot tell this itself, so the unit
// leaves a file after the watchdog ended the service (ExecStopPost=).

import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { commandFor, hintWith } from '../domain/command.ts'
import type { Conditions } from '../domain/conditions.ts'
import { type Clock, HOUR } from '../lib/clock.ts'
import { runtimeDirectory } from '../ops/daemon-file.ts'
import type { CommandLine } from '../ops/port.ts'
import { unitOfRun } from './unit-state.ts'

/** `status` shows the restart for this time; an alert reports it once. */
const SHOWN_MS = HOUR

/** reportWatchdogRestart sets the condition `watchdog-restart` if the unit left its file, and removes the file. */
export function reportWatchdogRestart(
  {
    clock,
    commandLine,
    env,
  }: {
    clock: Pick<Clock, 'now'>
    commandLine: CommandLine
    env: NodeJS.ProcessEnv
  },
  conditions: Conditions,
): void {
  const folder = runtimeDirectory(env)
  const unit = unitOfRun(commandLine(commandFor('run')))
  if (folder === '' || unit === null) return
  const file = join(folder, `watchdog-${unit}`)
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return
  rmSync(file, { force: true })
  const words = {
    message: 'the daemon hung, and systemd restarted it',
    hint: hintWith('the log from before the restart says what it did last', commandFor('logs')),
    mark: String(clock.now()),
  }
  conditions.set('watchdog-restart', words, SHOWN_MS)
}
