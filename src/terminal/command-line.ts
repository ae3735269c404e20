// Builds the commands that the program prints, so that a person can paste each one into a shell.

import { resolve } from 'node:path'
import { DEFAULT_FILE } from '../config/load.ts'
import { withConfig } from '../domain/command.ts'
import type { CommandLine } from '../ops/port.ts'

/**
 * commandLineHere returns a function that makes commands for the shell that called this program. They repeat the
 * --config of the call (`flag`), and the shell has the environment of the call.
 */
export function commandLineHere(env: NodeJS.ProcessEnv, flag: string | undefined): CommandLine {
  return commandLine(env, flag ?? null)
}

/** commandLineAnywhere returns a function that makes commands for any shell, as on the page. `file` can be relative. */
export function commandLineAnywhere(env: NodeJS.ProcessEnv, file: string): CommandLine {
  const path = resolve(file)
  return commandLine(env, path === DEFAULT_FILE ? null : path)
}

function commandLine(env: NodeJS.ProcessEnv, file: string | null): CommandLine {
  const program = env.npm_lifecycle_event === 'feedsyncd' ? 'npm run -s feedsyncd --' : 'feedsyncd'
  return (command) => `${program} ${withConfig(command, file)}`
}
