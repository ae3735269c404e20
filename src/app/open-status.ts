// Opens the history and the daemon's file for commands that only read. This file loads no network, watcher or checker.

import { statSync } from 'node:fs'
import { isAbsolute, normalize } from 'node:path'
import { type Config, historyFile } from '../config/config.ts'
import { feedFor } from '../config/feeds.ts'
import type { Condition } from '../domain/conditions.ts'
import { lockFile } from '../history/connection.ts'
import { isLocked } from '../history/instance-lock.ts'
import type { ListFilter } from '../history/port.ts'
import { openHistoryReader } from '../history/tables.ts'
import type { Clock } from '../lib/clock.ts'
import { lostState, readDaemonFile } from '../ops/daemon-file.ts'
import { whyDiskFull, whyDiskReadOnly } from '../ops/disk.ts'
import type { CommandLine } from '../ops/port.ts'
import { feedReport } from '../ops/upload-report.ts'
import { circumstancesOf, progressOf, statusOf, versionOf } from './status.ts'
import { unitState } from './unit-state.ts'

interface StatusOptions {
  clock: Clock
  env: NodeJS.ProcessEnv
  commandLine: CommandLine
  /** A condition that the command itself has found, such as mistakes in the configuration. */
  found?: Condition | null
}

/**
 * openStatus opens the history for reading, until the answer is disposed, and reads the daemon's file once. It throws
 * `FeedsyncError` if this user may not read the lock.
 */
export function openStatus(
  config: Config,
  { clock, commandLine, env, found = null }: StatusOptions,
) {
  const { directory } = config.state
  const reader = openHistoryReader({ file: historyFile(config) })
  const read = readDaemonFile(directory, env)
  // If somebody deleted the lock file of a running daemon, only the daemon's file says that it is alive.
  const running = read?.alive || isLocked(directory)
  const historyIsMissing = !running && isHistoryMissing(config)
  const known = read?.conditions ?? []
  const own = ownFindings(config, { known, historyIsMissing, now: clock.now() })
  const conditions = [...(found === null ? [] : [found]), ...known, ...own]
  const state =
    read === null && conditions.length === 0 ? null : { ...(read ?? lostState()), conditions }
  const surroundings = { clock, commandLine, config, snapshot: { running, state } }
  return {
    report: (filter: ListFilter) => {
      const unit = unitState(commandLine, { env, asksSystemd: !running })
      return statusOf(reader, { ...surroundings, host: { historyIsMissing, unit } }, filter)
    },
    show: (id: number, most?: number) =>
      reader === null ? null : versionOf(reader, surroundings, { id, most }),
    /** Returns the version of a feed on the service and its newest `most` versions; null if no feed has this name. */
    feed: (name: string, most?: number) => {
      if (reader === null) return null
      const report = feedReport(reader, name, { ...circumstancesOf(reader, surroundings), most })
      for (const upload of report?.uploads ?? [])
        upload.progress = progressOf(upload, state?.uploads ?? {})
      return report
    },
    newestId: () => reader?.list({ all: true, limit: 1 })[0]?.id ?? null,
    feeds: () => reader?.list({}).map(({ feed }) => feed) ?? [],
    /** Says what became of a path, relative to the inbox or absolute; null if nothing is there or ever was. */
    path: async (named: string) => {
      const trailingSlash = /(?<=.)\/$/
      const given = normalize(named).replace(trailingSlash, '')
      const isOutside = given === '.' || isAbsolute(given)
      const { lookAtPaths } = await import('../inbox/listing.ts')
      const { createNameFilter } = await import('../inbox/name-filter.ts')
      const { pathReport } = await import('../ops/path-report.ts')
      const { nonUtf8Path } = await import('../lib/non-utf8-names.ts')
      const { directory } = config.inbox
      const looked = lookAtPaths([given], { directory, asks: () => {}, isHung: () => false })
      const seen = isOutside ? null : (looked.get(given) ?? null)
      // Only the daemon knows if its own user may read the path, and which names are not valid UTF-8.
      const isAtOrBelow = (skippedPath: string) =>
        `${given}/`.startsWith(skippedPath.replace(/\/?$/, '/'))
      const skipped = state?.skipped.find(({ path }) =>
        seen === null ? path === nonUtf8Path(given) : isAtOrBelow(path),
      )
      const found = skipped ?? seen
      // The history names a directory with a slash at its end, and marks a name that is not valid UTF-8.
      const recordedNames = [`${given}/`, nonUtf8Path(given)]
      const path = found !== null && recordedNames.includes(found.path) ? found.path : given
      return pathReport({
        path,
        feed: feedFor(path, config.feeds).feed,
        ignored: isOutside ? null : createNameFilter(config.inbox).ignored(given),
        found,
        history: reader,
        running,
        quietPeriodMs: config.inbox.quietPeriodMs,
        circumstances: circumstancesOf(reader, surroundings),
        now: clock.now(),
      })
    },
    [Symbol.dispose]: () => reader?.[Symbol.dispose](),
  }
}

/** isHistoryMissing returns whether the database is gone or empty, although a daemon ran here. */
function isHistoryMissing(config: Config): boolean {
  const size = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? null
  const hasRun = size(lockFile(config.state.directory)) !== null
  return hasRun && (size(historyFile(config)) ?? 0) === 0
}

/**
 * ownFindings returns the conditions that the command itself finds at the state directory, and that the daemon does not
 * report: it might not run, or might not have looked yet.
 */
function ownFindings(
  config: Config,
  {
    historyIsMissing,
    known,
    now,
  }: { known: readonly Condition[]; historyIsMissing: boolean; now: number },
): Condition[] {
  const { directory } = config.state
  const lost = {
    message: `${historyFile(config)} is gone or empty, although a daemon ran here`,
    hint: 'put it back, or a backup, then start feedsyncd',
  }
  const found = [
    ['state-full', whyDiskFull(directory)],
    ['state-read-only', whyDiskReadOnly(directory)],
    ['database-lost', historyIsMissing ? lost : null],
  ] as const
  return found.flatMap(([code, words]) => {
    const isNew = words !== null && known.every((one) => one.code !== code)
    return isNew ? [{ code, since: now, mark: null, ...words }] : []
  })
}
