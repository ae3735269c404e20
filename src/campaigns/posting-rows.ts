// How the commands that list postings read and show a posting.

import type { FieldPaths } from '../domain/mapping.ts'

/** POSTING_FIELDS are the fields to read of a posting. No table shows the description, but targeting tests it. */
export const POSTING_FIELDS = [
  ...(['id', 'externalCampaignId', 'requisitionId', 'title', 'city'] as const),
  ...(['state', 'postalCode', 'description'] as const),
]

/** PostingRow is a posting as people see it. */
export type PostingRow = Omit<FieldPaths, 'description'>

export function rowOf({ description: _, ...row }: FieldPaths): PostingRow {
  return row
}
