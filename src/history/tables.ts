// Composes what is asked and written over one connection, port by port. Nothing is prepared before it is used. Those
// who only ask open the history here: sqlite-history.ts loads what transactions need, too.

import { attempts } from './attempts.ts'
import type { Connection } from './connection.ts'
import { files } from './files.ts'
import { openReader } from './migrations.ts'
import { notes } from './notes.ts'
import { pauses } from './pauses.ts'
import type { HistoryReader } from './port.ts'
import { requests } from './requests.ts'
import { versionReads } from './version-reads.ts'
import { versionWrites } from './version-writes.ts'

/**
 * Opens the history for reading, for one answer; null where there is none yet. Works while the daemon
 * runs, after a crash, and for a user who may read but not write. Throws `FeedsyncError`.
 */
export function openHistoryReader({ file }: { file: string }): HistoryReader | null {
  return openReader(file, tables)
}

export function tables(db: Connection) {
  const reads = versionReads(db)
  const writes = versionWrites(db, reads)
  return {
    ...reads,
    ...writes,
    ...attempts(db, writes),
    ...files(db, reads),
    ...requests(db),
    ...notes(db),
    ...pauses(db),
  }
}
