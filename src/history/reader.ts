// The history for those who only ask. Apart from sqlite-history.ts, so that they load nothing of transactions.

import { openReader } from './migrations.ts'
import type { HistoryReader } from './port.ts'
import { tables } from './tables.ts'

/**
 * Opens the history for reading, for one answer; null where there is none yet. Works while the daemon
 * runs, after a crash, and for a user who may read but not write. Throws `FeedsyncError`.
 */
export function openHistoryReader({ file }: { file: string }): HistoryReader | null {
  return openReader(file, tables)
}
