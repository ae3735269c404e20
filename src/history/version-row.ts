// Owns the layout of a version in a row: column names, JSON columns, booleans. No SQL runs here.

import type { SqlValue } from './connection.ts'
import type { Reason, ReasonField, Version } from './rows.ts'

/** The fields of a version, in the order of the columns. A column has the same name in snake case. */
const FIELDS = `
  id feed path account state reason reasonCode hint line column guard approved sha256 md5 bytes encoding root records
  postings withoutId duplicates placeholder requisitionIds changes attempts retries detectedAt modifiedAt date uploadedAt nextAttemptAt
  incompleteSince
  fileUrl etagVerified spool warnings externalCampaignIds`
  .trim()
  .split(/\s+/)

/** columnOf returns the column of a field. `column` is quoted because it is a word of SQL. */
const columnOf = (field: string) =>
  field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/^column$/, '"column"')

/** VersionRow is a version as SQLite returns it, with the field names of `Version`. */
export type VersionRow = Omit<Version, keyof Encoded> & Encoded

interface Encoded {
  externalCampaignIds: string | null
  changes: string | null
  warnings: string
  approved: number
  etagVerified: number | null
}

/** VERSION_FIELDS are the columns of `versions v` for a SELECT, with the field names of `Version`. */
export const VERSION_FIELDS = FIELDS.map((field) => `v.${columnOf(field)} AS ${field}`).join(', ')

export function versionOf(row: VersionRow): Version {
  return {
    ...row,
    externalCampaignIds: JSON.parse(row.externalCampaignIds ?? 'null'),
    changes: JSON.parse(row.changes ?? 'null'),
    warnings: JSON.parse(row.warnings),
    approved: row.approved === 1,
    etagVerified: row.etagVerified === null ? null : row.etagVerified === 1,
  }
}

/** reasonFields returns the fields of a reason. It sets all of them, so that nothing of an earlier reason stays. */
export function reasonFields(why: Reason | null): Pick<Version, ReasonField> {
  const { code = null, reason = null, hint = null, position = null } = why ?? {}
  const { line = null, column = null } = position ?? {}
  return { reason, reasonCode: code, hint, line, column }
}

/** columnsOf turns fields of a version into column values for an INSERT or an UPDATE. */
export function columnsOf(fields: Partial<Version>): Record<string, SqlValue> {
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [columnOf(field), encoded(value)]),
  )
}

function encoded(value: Version[keyof Version]): SqlValue {
  if (typeof value === 'boolean') return value ? 1 : 0
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}
