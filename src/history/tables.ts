// Composes all queries and writes over one connection, port by port. A command that only reads opens the history here,
// because sqlite-history.ts also loads the code for transactions.

import { accounts } from './accounts.ts'
import { alertReceivers } from './alert-receivers.ts'
import { attempts } from './attempts.ts'
import type { Connection } from './connection.ts'
import { departures } from './departures.ts'
import { differences } from './differences.ts'
import { files } from './files.ts'
import { lostHistory } from './lost-history.ts'
import { openReader } from './migrations.ts'
import { otherService } from './other-service.ts'
import { pauses } from './pauses.ts'
import { pendingReceipts } from './pending-receipts.ts'
import { requests } from './requests.ts'
import { type VersionReads, versionReads } from './version-reads.ts'
import { versionWrites } from './version-writes.ts'
import { waits } from './waits.ts'

export type Tables = ReturnType<typeof tables>

/** HistoryReader has the queries of code that only reads. */
export type HistoryReader = VersionReads &
  Pick<
    Tables,
    | 'alike'
    | 'attempts'
    | 'datedPaths'
    | 'difference'
    | 'feedBefore'
    | 'historyLostUpTo'
    | 'keptPostings'
    | 'known'
    | 'lastVersionAt'
    | 'missingSince'
    | 'movedFile'
    | 'otherServiceUpTo'
    | 'pauses'
    | 'request'
    | 'rivals'
    | 'whoSaidKeepsAll'
  > &
  Disposable

/**
 * openHistoryReader opens the history for reading, for one answer. Returns null when there is no history yet. It works
 * while the daemon runs, after a crash, and for a user who may read but not write. Throws `FeedsyncError`.
 */
export function openHistoryReader({ file }: { file: string }): HistoryReader | null {
  return openReader(file, tables)
}

export function tables(db: Connection) {
  const reads = versionReads(db)
  const versions = { ...reads, ...versionWrites(db, reads) }
  const ofAccounts = accounts(db)
  return {
    ...versions,
    ...ofAccounts,
    ...alertReceivers(db),
    ...waits(db, reads),
    ...attempts(db),
    ...departures(db),
    ...differences(db),
    ...files(db, reads),
    ...requests(db),
    ...otherService(db, { ...ofAccounts, ...versions }),
    ...pendingReceipts(db),
    ...lostHistory(db, versions),
    ...pauses(db),
  }
}
