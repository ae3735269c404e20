// Fills a history with uploaded versions, as months of work would. It uses the product's own writes, many in one
// transaction.

import type { History } from '../src/history/port.ts'
import { openHistory } from '../src/history/sqlite-history.ts'
import type { FileIdentity } from '../src/lib/files.ts'

const BATCH = 10_000
const FIRST_AT = Date.UTC(2026, 0, 1)
const APART_MS = 20_000

export interface Seed {
  feed: string
  path: string
  /** The stats of the file in the folder; null if the file left the folder long ago. */
  identity: FileIdentity | null
}

/** seedHistory writes `count` uploaded versions, the oldest first. `seedOf` returns the feed and file of the n-th. */
export function seedHistory(database: string, count: number, seedOf: (n: number) => Seed): void {
  using history = openHistory({ file: database })
  for (let from = 0; from < count; from += BATCH) {
    history.atomically(() => {
      for (let n = from; n < Math.min(count, from + BATCH); n++) addUploaded(history, n, seedOf(n))
    })
  }
}

function addUploaded(history: History, n: number, { feed, path, identity }: Seed): void {
  const at = FIRST_AT + n * APART_MS
  const { id } = history.add({
    feed,
    path,
    at,
    account: null,
    state: 'queued',
    reason: null,
    patch: {
      sha256: n.toString(16).padStart(64, '0'),
      md5: n.toString(16).padStart(32, '0'),
      bytes: 20_000,
      encoding: 'UTF-8',
      root: 'source',
      records: '/source/job',
      postings: 5,
      requisitionIds: 5,
      externalCampaignIds: { C1: 3, C2: 2 },
    },
  })
  history.move(id, 'uploading', { at: at + 10 })
  history.startAttempt(id, at + 10, `feeds/${n}.xml`)
  history.endAttempt(id, {
    endedAt: at + 20,
    outcome: 'stored',
    status: 201,
    code: null,
    bytesSent: 20_000,
    key: `feeds/${n}.xml`,
  })
  history.move(id, 'uploaded', {
    at: at + 20,
    patch: {
      uploadedAt: at + 20,
      fileUrl: `https://storage.example.com/feeds/${n}.xml`,
      etagVerified: true,
    },
  })
  if (identity !== null) history.rememberPath({ path, identity, versionId: id })
}
