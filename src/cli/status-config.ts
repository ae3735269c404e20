// The configuration for `status`. A file with mistakes must not hide the daemon: if the state directory can be found,
// `status` shows the first mistake and then the state of the daemon.

import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Config, historyFile } from '../config/config.ts'
import { DEFAULT_FILE, findConfig, placeholderConfig } from '../config/load.ts'
import { ConfigProblems } from '../config/problems.ts'
import { instanceOf } from '../config/unit.ts'
import { commandFor, hintWith } from '../domain/command.ts'
import type { Condition } from '../domain/conditions.ts'
import { type Context, readConfig } from '../terminal/context.ts'

/**
 * readStatusConfig returns the configuration, and null as `broken`. If the file has mistakes, `broken` is a condition
 * with the first one, and `config` is a placeholder with the state directory. It throws `ConfigProblems` if the file
 * has mistakes and no state directory is found.
 */
export function readStatusConfig(
  context: Context,
  flag: string | undefined,
): { config: Config; broken: Condition | null } {
  try {
    return { config: readConfig(context, flag, 'as-written'), broken: null }
  } catch (error) {
    if (!(error instanceof ConfigProblems)) throw error
    const { clock, env } = context
    const file = findConfig(flag, env)
    const instance = instanceOf(file)
    const places = [
      // The file can name the state directory in spite of its mistakes.
      error.stateDirectory,
      join(dirname(resolve(file)), 'state'),
      ...(file === DEFAULT_FILE || instance !== null
        ? [join('/var/lib/feedsyncd', instance ?? '')]
        : []),
    ]
    const config = places
      .filter((directory) => directory !== null)
      .map((directory) => placeholderConfig(file, directory, env))
      .find((each) => existsSync(historyFile(each)))
    if (config === undefined) throw error
    const [first = '', ...others] = error.lines
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`
    const broken: Condition = {
      code: 'config-broken',
      mark: null,
      since: clock.now(),
      message: `the configuration has mistakes: ${first}${more}`,
      hint: hintWith(
        `this status comes from ${config.state.directory}; to list all mistakes`,
        commandFor('config check'),
      ),
    }
    return { config, broken }
  }
}
