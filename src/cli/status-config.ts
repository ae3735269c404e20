// The configuration for `status`. A file with mistakes must not hide the daemon: then the state directory of the
// last start is shown, after the first mistake.

import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { historyFile } from '../app/queries.ts'
import type { Config } from '../config/config.ts'
import { DEFAULT_FILE, findConfig, placeholderConfig } from '../config/load.ts'
import { ConfigProblems } from '../config/problems.ts'
import type { Condition } from '../lib/conditions.ts'
import { lastStateDirectory } from '../ops/daemon-file.ts'
import { type Context, readConfig } from './context.ts'

export interface StatusConfig {
  config: Config
  /** The first mistake of the file; null where it has none. */
  broken: Condition | null
}

/** Throws `ConfigProblems` where the state directory is unknown, too. */
export function readStatusConfig(context: Context, flag: string | undefined): StatusConfig {
  try {
    return { config: readConfig(context, flag, 'as-written'), broken: null }
  } catch (error) {
    if (!(error instanceof ConfigProblems)) throw error
    const file = findConfig(flag, context.env)
    const config = places(file, error.stateDirectory, context.env)
      .map((directory) => placeholderConfig(file, directory, context.env))
      .find((each) => existsSync(historyFile(each)))
    if (config === undefined) throw error
    return { config, broken: brokenConfig(context, error, config) }
  }
}

/** The state directory of the last start, the one that the file names in spite of its mistakes, the default ones. */
function places(file: string, said: string | null, env: Context['env']): string[] {
  const last = lastStateDirectory(file, env)
  return [
    ...(last === null ? [] : [last]),
    ...(said === null ? [] : [said]),
    join(dirname(resolve(file)), 'state'),
    ...(file === DEFAULT_FILE ? ['/var/lib/feedsyncd'] : []),
  ]
}

function brokenConfig(context: Context, { lines }: ConfigProblems, config: Config): Condition {
  const [first = ''] = lines
  const more = lines.length === 1 ? '' : ` (and ${lines.length - 1} more)`
  return {
    ...{ code: 'config-broken', severity: 'critical', since: context.clock.now() },
    message: `the configuration has mistakes: ${first}${more}`,
    hint: `feedsyncd config check lists them; this status is from ${config.state.directory}`,
  }
}
