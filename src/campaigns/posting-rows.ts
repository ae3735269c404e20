// How the commands that list postings read and show a posting.

import type { FieldPaths } from '../domain/mapping.ts'

/** POSTING_FIELDS are the fields that are read. The description is read for targeting only: no table shows it. */
export const POSTING_FIELDS = [
  ...(['id', 'externalCampaignId', 'requisitionId', 'title', 'city'] as const),
  ...(['state', 'postalCode', 'description'] as const),
]

/** PostingRow is a posting as people see it. */
export type PostingRow = Omit<FieldPaths, 'description'>

export function rowOf({ description: _, ...row }: FieldPaths): PostingRow {
  return row
}
