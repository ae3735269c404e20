// Owns how a version is laid out in a row: column names, JSON columns, booleans. No SQL runs here.

import type { Row, SqlValue } from './connection.ts'
import type { Reason, ReasonField, Version } from './records.ts'

const COLUMNS: Readonly<Record<keyof Version, string>> = {
  id: 'id',
  feed: 'feed',
  path: 'path',
  account: 'account',
  state: 'state',
  reason: 'reason',
  reasonCode: 'reason_code',
  hint: 'hint',
  line: 'line',
  column: '"column"',
  guard: 'guard',
  approved: 'approved',
  sha256: 'sha256',
  md5: 'md5',
  bytes: 'bytes',
  encoding: 'encoding',
  root: 'root',
  records: 'records',
  postings: 'postings',
  withoutId: 'without_id',
  duplicates: 'duplicates',
  requisitionIds: 'requisition_ids',
  externalCampaignIds: 'external_campaign_ids',
  changes: 'changes',
  warnings: 'warnings',
  attempts: 'attempts',
  detectedAt: 'detected_at',
  uploadedAt: 'uploaded_at',
  nextAttemptAt: 'next_attempt_at',
  deadlineAt: 'deadline_at',
  fileUrl: 'file_url',
  etagVerified: 'etag_verified',
  spool: 'spool',
}

const JSON_FIELDS = ['externalCampaignIds', 'changes', 'warnings'] as const

type Encoded = (typeof JSON_FIELDS)[number] | 'approved' | 'etagVerified'

/** A version as SQLite answers it, named as the port names it. */
export type VersionRow = Omit<Version, Encoded> & {
  externalCampaignIds: string | null
  changes: string | null
  warnings: string
  approved: number
  etagVerified: number | null
}

/** The columns of `versions v` under the port's names, for a SELECT. */
export const VERSION_FIELDS = Object.entries(COLUMNS)
  .map(([field, column]) => `v.${column} AS ${field}`)
  .join(', ')

export function versionOf(row: VersionRow): Version {
  return {
    ...row,
    externalCampaignIds:
      row.externalCampaignIds === null ? null : JSON.parse(row.externalCampaignIds),
    changes: row.changes === null ? null : JSON.parse(row.changes),
    warnings: JSON.parse(row.warnings),
    approved: row.approved === 1,
    etagVerified: row.etagVerified === null ? null : row.etagVerified === 1,
  }
}

/** The fields that a reason fills: all of them, so that nothing of an earlier one stays. */
export function reasonFields(reason: Reason | null): Pick<Version, ReasonField> {
  const { code = null, text = null, hint = null, position = null } = reason ?? {}
  return {
    ...{ reason: text, reasonCode: code, hint },
    ...{ line: position?.line ?? null, column: position?.column ?? null },
  }
}

/** Fields of a version as values of their columns, for an INSERT or an UPDATE. */
export function columnsOf(fields: Partial<Version>): Row {
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [
      COLUMNS[field as keyof Version],
      encoded(value),
    ]),
  )
}

function encoded(value: Version[keyof Version]): SqlValue {
  if (typeof value === 'boolean') return value ? 1 : 0
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}

export function orNull<R, T>(row: R | undefined, make: (row: R) => T): T | null {
  return row === undefined ? null : make(row)
}
