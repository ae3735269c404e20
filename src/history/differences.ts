// Owns what a held version changes. feedsyncd compares the postings once, when a guard holds the version.

import type { DifferenceSummary } from '../domain/difference.ts'
import type { Connection } from './connection.ts'

export interface HeldDifference {
  /** The id of the version that the held version was compared with; null if there was no earlier copy. */
  older: number | null
  /** null if there was no earlier copy, or the comparison failed. */
  summary: DifferenceSummary | null
}

export function differences(db: Connection) {
  return {
    /** difference returns what a version changes; null if it was never held by a guard. */
    difference: (id: number): HeldDifference | null => {
      const sql = 'SELECT older, summary FROM differences WHERE version = ?'
      const row = db.row<{ older: number | null; summary: string | null }>(sql, id)
      return row && { older: row.older, summary: JSON.parse(row.summary ?? 'null') }
    },

    keepDifference: (id: number, { older, summary }: HeldDifference): void => {
      const json = summary === null ? null : JSON.stringify(summary)
      db.run('REPLACE INTO differences VALUES (?, ?, ?)', id, older, json)
    },
  }
}
