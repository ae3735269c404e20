// The documented JSON of `check`. It is a contract: fields may be added, but never renamed.

import { FIELDS } from '../feed/field-paths.ts'
import type { CheckResult, FoundPaths, RunnerUp, Verdict } from '../feed/port.ts'

export interface FileReport {
  path: string
  /** A file that changed while it was read is `incomplete`, because its writer is at work. */
  verdict: Verdict['kind'] | 'unreadable'
  root: string | null
  records: string | null
  postings: number | null
  sha256: string | null
  bytes: number | null
  encoding: string | null
  /** Number of postings by external campaign id. */
  externalCampaignIds: Record<string, number>
  /** Number of distinct requisition ids. */
  requisitionIds: number
  warnings: string[]
  reason: string | null
  /** Byte offset of the mistake. */
  offset: number | null
  line: number | null
  column: number | null
  /** Why a guard would hold the file; null if no guard would hold it. */
  held: string | null
  /** The second most likely path of the postings; null if the choice was clear, or configured. */
  runnerUp: RunnerUp | null
  /** The path of each field; null if the field was not found. */
  fields: FoundPaths
}

const NONE = Object.fromEntries(FIELDS.map((field) => [field, null])) as FoundPaths

/** fileReport turns a check result into the JSON of `check`. `path` is as the person typed it. */
export function fileReport(path: string, result: CheckResult, held: string | null): FileReport {
  const read = result.kind === 'read' ? result : null
  const ok = read?.verdict.kind === 'ok' ? read.verdict : null
  const mistake = read !== null && read.verdict.kind !== 'ok' ? read.verdict : null
  const isChanged = result.kind === 'changed'
  const unread = 'reason' in result ? result.reason : (mistake?.reason ?? null)
  return {
    path,
    verdict: read?.verdict.kind ?? (isChanged ? 'incomplete' : 'unreadable'),
    root: ok?.content.root ?? null,
    records: ok?.content.records ?? null,
    postings: ok?.content.postings ?? null,
    sha256: read?.sha256 ?? null,
    bytes: read?.bytes ?? null,
    encoding: read?.encoding ?? null,
    externalCampaignIds: ok?.content.externalCampaignIds ?? {},
    requisitionIds: ok?.content.requisitionIds ?? 0,
    warnings: ok?.content.warnings ?? [],
    reason: isChanged ? 'it changed while it was read' : unread,
    offset: mistake?.position?.offset ?? null,
    line: mistake?.position?.line ?? null,
    column: mistake?.position?.column ?? null,
    held,
    runnerUp: ok?.runnerUp ?? null,
    fields: ok?.fields ?? NONE,
  }
}
