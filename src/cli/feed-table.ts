// The table of feeds. On a narrow terminal it first leaves out the folder that all names share, and then the columns
// that matter least. Lines that are still too wide overflow, because names without their middle look the same.

import { sharedFolder, withoutShared } from '../lib/shared-folder.ts'
import { countOf, formatBytes, relativeTime } from '../lib/units.ts'
import type { UploadReport } from '../ops/upload-report.ts'
import { type Cell, columnsOf, table } from '../terminal/render.ts'

const HEADERS = ['id', 'feed', 'state', 'postings', 'size', 'attempts', 'when'] as const
/** The columns that a narrow terminal loses, in this order. */
const DROPPED: readonly (typeof HEADERS)[number][] = ['attempts', 'size']

/** feedTable returns the header and one line for each version. `width` is in columns; null if nothing is cut. */
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
  const layouts = [
    { shared: '', dropped: 0 },
    ...[0, 1, DROPPED.length].map((dropped) => ({ shared, dropped })),
  ]
  let found: string[] = []
  for (const { dropped, shared } of layouts) {
    found = lines(rowsOf(shared), dropped)
    if (width === null || found.every((line) => columnsOf(line) <= width)) break
  }
  return found
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
