// The documented JSON of `check`, made of what a check answered. A contract:
// fields may be added, never renamed.

import { FIELDS } from '../feed/field-paths.ts'
import type { CheckResult, FoundPaths } from '../feed/port.ts'

export type FileReport = ReturnType<typeof fileReport>

const NONE = Object.fromEntries(FIELDS.map((field) => [field, null])) as FoundPaths

/** `path`: as the person wrote it. `held`: why a guard would hold it; null: none would. */
export function fileReport(path: string, result: CheckResult, held: string | null) {
  const read = result.kind === 'read' ? result : null
  const content = read?.verdict.kind === 'ok' ? read.verdict.content : null
  const mistake = read !== null && read.verdict.kind !== 'ok' ? read.verdict : null
  const isChanged = result.kind === 'changed'
  return {
    path,
    /** What cannot be read is `broken`, what changes meanwhile `incomplete`: its writer is at work. */
    verdict: read?.verdict.kind ?? (isChanged ? 'incomplete' : 'broken'),
    root: content?.root ?? null,
    records: content?.records ?? null,
    postings: content?.postings ?? null,
    sha256: read?.sha256 ?? null,
    bytes: read?.bytes ?? null,
    encoding: read?.encoding ?? null,
    /** External campaign id -> number of postings. */
    externalCampaignIds: content?.externalCampaignIds ?? {},
    requisitionIds: content?.requisitionIds ?? 0,
    warnings: content?.warnings ?? [],
    reason: isChanged
      ? 'it changed while it was read'
      : 'reason' in result
        ? result.reason
        : (mistake?.reason ?? null),
    /** Of the mistake, in bytes. */
    offset: mistake?.position?.offset ?? null,
    line: mistake?.position?.line ?? null,
    column: mistake?.position?.column ?? null,
    held,
    /** The path of each field, or null. */
    fields: read?.verdict.kind === 'ok' ? read.verdict.fields : NONE,
  }
}
