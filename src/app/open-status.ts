// Opens the history and the daemon's file for commands that only read. It loads no network, watcher or checker.

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

export interface StatusOptions {
  clock: Clock
  env: NodeJS.ProcessEnv
  commandLine: CommandLine
  /** A condition that the command itself has found, such as mistakes in the configuration. */
  found?: Condition | null
}

/**
 * openStatus opens the history for reading and reads the daemon's file. It throws `FeedsyncError` if this user may not
 * read the lock.
 */
export function openStatus(
  config: Config,
  { clock, commandLine, env, found = null }: StatusOptions,
) {
  const { directory } = config.state
  const reader = openHistoryReader({ file: historyFile(config) })
  const read = readDaemonFile(directory, env)
  // A daemon whose lock file was deleted still runs.
  const running = read?.alive || isLocked(directory)
  const historyIsMissing = !running && isMissing(config)
  const known = read?.conditions ?? []
  const own = ownFindings(config, { known, historyIsMissing, now: clock.now() })
  const conditions = [...(found === null ? [] : [found]), ...known, ...own]
  const state =
    read === null && conditions.length === 0 ? null : { ...(read ?? lostState()), conditions }
  const surroundings = { clock, commandLine, config, snapshot: { running, state } }
  return {
    report: (filter: ListFilter) => {
      const unit = unitState(commandLine, { env, isAsked: !running })
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
    /** Says why a path, relative to the inbox or absolute, is where it is; null if nothing is or ever was there. */
    path: async (named: string) => {
      const given = normalize(named).replace(/(?<=.)\/$/, '')
      const isOutside = given === '.' || isAbsolute(given)
      const { lookAtPaths } = await import('../inbox/listing.ts')
      const { createNameFilter } = await import('../inbox/name-filter.ts')
      const { pathReport } = await import('../ops/path-report.ts')
      const { nonUtf8Path } = await import('../lib/non-utf8-names.ts')
      const { directory } = config.inbox
      const looked = lookAtPaths([given], { directory, asks: () => {}, isHung: () => false })
      const seen = isOutside ? null : (looked.get(given) ?? null)
      // Only the daemon knows if its own user may read the path, and which names are not valid UTF-8.
      const skipped = state?.skipped.find(({ path }) =>
        seen === null
          ? path === nonUtf8Path(given)
          : `${given}/`.startsWith(path.replace(/\/?$/, '/')),
      )
      const found = skipped ?? seen
      const isNamed = found !== null && [`${given}/`, nonUtf8Path(given)].includes(found.path)
      const path = isNamed ? found.path : given
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

/** isMissing returns whether the database is gone or empty, although a daemon ran here. */
function isMissing(config: Config): boolean {
  const size = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? null
  return size(lockFile(config.state.directory)) !== null && !size(historyFile(config))
}

/**
 * ownFindings returns what the command itself finds at the state directory. A daemon might not run, or not have looked.
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
