// The table of feeds. On a narrow terminal it first shortens what all names share and drops columns that matter least.
// Then it lets lines overflow, because a name that lost its middle cannot be told from another name.

import { sharedFolder, withoutShared } from '../lib/shared-folder.ts'
import { countOf, formatBytes, relativeTime } from '../lib/units.ts'
import type { UploadReport } from '../ops/upload-report.ts'
import { type Cell, columnsOf, table } from '../terminal/render.ts'

const HEADERS = ['id', 'feed', 'state', 'postings', 'size', 'attempts', 'when'] as const
/** The columns that a narrow terminal loses, the first one first. */
const DROPPED: readonly (typeof HEADERS)[number][] = ['attempts', 'size']

/** feedTable returns the header and one line for each version. `width` is the terminal's; null means unknown. */
export function feedTable(
  uploads: readonly UploadReport[],
  { now, width }: { now: number; width: number | null },
): string[] {
  const rowsOf = (shared: string) => uploads.map((upload) => rowOf(upload, now, shared))
  const lines = (rows: Cell[][], dropped: number) => {
    const kept = HEADERS.map((header) => !DROPPED.slice(0, dropped).includes(header))
    const headers = HEADERS.filter((_, column) => kept[column])
    return table(
      [...headers],
      rows.map((row) => row.filter((_, column) => kept[column])),
      null,
    ).split('\n')
  }
  const shared = sharedFolder(uploads.map(({ feed }) => feed))
  const tries = [
    { shared: '', dropped: 0 },
    ...[0, 1, DROPPED.length].map((dropped) => ({ shared, dropped })),
  ]
  let made = lines(rowsOf(''), 0)
  for (const { dropped, shared } of tries) {
    made = lines(rowsOf(shared), dropped)
    if (width === null || made.every((line) => columnsOf(line) <= width)) break
  }
  return made
}

function rowOf(upload: UploadReport, now: number, shared: string): Cell[] {
  const { attempts, bytes, detectedAt, feed, id, overdue, postings, state, uploadedAt } = upload
  return [
    id,
    withoutShared(feed, shared),
    overdue ? `${state}, overdue` : state,
    postings === null ? null : countOf(postings),
    bytes === null ? null : formatBytes(bytes),
    attempts,
    relativeTime(uploadedAt ?? detectedAt, now),
  ]
}
