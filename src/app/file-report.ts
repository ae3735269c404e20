// The documented JSON of `check`, made of what a check answered. A contract:
// fields may be added, never renamed.

import type { CheckResult, Verdict } from '../feed/port.ts'

export interface FileReport {
  path: string
  /** What cannot be read is `broken`, what changes meanwhile `incomplete`: its writer is at work. */
  verdict: Verdict['kind']
  root: string | null
  records: string | null
  postings: number | null
  sha256: string | null
  bytes: number | null
  encoding: string | null
  /** External campaign id -> number of postings. */
  externalCampaignIds: Record<string, number>
  requisitionIds: number
  warnings: string[]
  reason: string | null
  /** Of the mistake, in bytes. */
  offset: number | null
  line: number | null
  column: number | null
}

/** `path`: as the person wrote it. */
export function fileReport(path: string, result: CheckResult): FileReport {
  const nothing: FileReport = {
    path,
    verdict: 'broken',
    root: null,
    records: null,
    postings: null,
    sha256: null,
    bytes: null,
    encoding: null,
    externalCampaignIds: {},
    requisitionIds: 0,
    warnings: [],
    reason: null,
    offset: null,
    line: null,
    column: null,
  }
  switch (result.kind) {
    case 'changed':
      return { ...nothing, verdict: 'incomplete', reason: 'it changed while it was read' }
    case 'unreadable':
    case 'no-room':
      return { ...nothing, reason: result.reason }
    case 'read': {
      const { verdict, sha256, bytes, encoding } = result
      const read = { ...nothing, verdict: verdict.kind, sha256, bytes, encoding }
      if (verdict.kind === 'ok') {
        const { duplicates: _, withoutId: __, ...content } = verdict.content
        return { ...read, ...content }
      }
      const { reason, position } = verdict
      return { ...read, reason, ...position }
    }
    default:
      return result satisfies never
  }
}
