// Copies the history. This file is separate from queries.ts, so that commands that only read do not load it.

import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Config, historyFile } from '../config/config.ts'
import { backUp } from '../history/backup.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { isWithin } from '../lib/files.ts'

/**
 * backUpHistory copies the history to the file `to` and returns the size of the copy in bytes. Throws `FeedsyncError`
 * (64) if `to` is a file that feedsyncd itself needs, such as `configFile`, and the errors of `backUp`.
 */
export function backUpHistory(
  config: Config,
  { configFile, to }: { configFile: string; to: string },
): Promise<number> {
  const { directory } = config.state
  const own = [configFile, config.service.auth.keyFile]
  if (isWithin(realOf(to), realOf(directory)) || own.some((file) => isSameFile(file, to))) {
    throw new FeedsyncError(`${to} is a file of feedsyncd itself, and a backup would replace it`, {
      hint: `name a file outside of ${directory}, such as /var/backups/feedsyncd.db`,
      exitCode: EXIT.usage,
    })
  }
  return backUp(historyFile(config), to)
}

/** realOf returns a path with its links resolved. The part of the path that does not exist is kept as it is. */
function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return dirname(path) === path ? path : join(realOf(dirname(path)), basename(path))
  }
}

function isSameFile(first: string, second: string): boolean {
  const [one, other] = [first, second].map((path) => statSync(path, { throwIfNoEntry: false }))
  return one !== undefined && one.dev === other?.dev && one.ino === other?.ino
}
