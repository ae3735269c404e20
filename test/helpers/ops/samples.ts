// Versions as `status` reports them, for the tests of tables and pages.

import type { UploadReport } from '../../../src/ops/upload-report.ts'

export function reportOf(over: Partial<UploadReport> = {}): UploadReport {
  return {
    ...{ id: 1, feed: 'acme', path: 'acme.xml', account: null, state: 'uploaded', reason: null },
    ...{ reasonCode: null, line: null, column: null },
    ...{
      guard: null,
      hint: null,
      sha256: null,
      postings: 40,
      bytes: 2048,
      attempts: 1,
      nextAttemptAt: null,
    },
    ...{
      incompleteSince: null,
      detectedAt: '2026-11-20T11:59:00.000Z',
      fileUrl: null,
      changes: null,
    },
    ...{
      rejectedAt: null,
      refusals: 0,
      keptPostings: null,
      maybeOnService: null,
      newerThanAll: null,
      reachedAt: null,
      difference: null,
    },
    ...{ uploadedAt: '2026-11-20T11:59:30.000Z', etagVerified: true, warnings: [] },
    ...{
      expectedBy: null,
      overdue: false,
      progress: null,
      onService: null,
      files: null,
      leftAt: null,
      ...over,
    },
  }
}
