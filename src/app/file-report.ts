// The documented JSON of `check`. It is a contract: fields may be added, but never renamed.

import { FIELDS } from '../feed/field-paths.ts'
import type { CheckResult, FoundPaths } from '../feed/port.ts'

export type FileReport = ReturnType<typeof fileReport>

const NONE = Object.fromEntries(FIELDS.map((field) => [field, null])) as FoundPaths

/** fileReport turns a check result into that JSON. `path` is as typed. `held` says why a guard would hold the file. */
export function fileReport(path: string, result: CheckResult, held: string | null) {
  const read = result.kind === 'read' ? result : null
  const content = read?.verdict.kind === 'ok' ? read.verdict.content : null
  const mistake = read !== null && read.verdict.kind !== 'ok' ? read.verdict : null
  const isChanged = result.kind === 'changed'
  return {
    path,
    /** A file that changed meanwhile is `incomplete`: its writer is at work. */
    verdict: read?.verdict.kind ?? (isChanged ? ('incomplete' as const) : ('unreadable' as const)),
    root: content?.root ?? null,
    records: content?.records ?? null,
    postings: content?.postings ?? null,
    sha256: read?.sha256 ?? null,
    bytes: read?.bytes ?? null,
    encoding: read?.encoding ?? null,
    /** Number of postings by external campaign id. */
    externalCampaignIds: content?.externalCampaignIds ?? {},
    requisitionIds: content?.requisitionIds ?? 0,
    warnings: content?.warnings ?? [],
    reason: isChanged
      ? 'it changed while it was read'
      : 'reason' in result
        ? result.reason
        : (mistake?.reason ?? null),
    /** Byte offset of the mistake. */
    offset: mistake?.position?.offset ?? null,
    line: mistake?.position?.line ?? null,
    column: mistake?.position?.column ?? null,
    held,
    /** The path that was nearly taken for that of the postings; null: the choice was clear, or configured. */
    runnerUp: read?.verdict.kind === 'ok' ? read.verdict.runnerUp : null,
    /** The path of each field; null if the field was not found. */
    fields: read?.verdict.kind === 'ok' ? read.verdict.fields : NONE,
  }
}
