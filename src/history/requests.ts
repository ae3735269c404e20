// Owns the requests of `feedsyncd upload` to a running daemon, each for one file.

import { FeedsyncError } from '../lib/errors.ts'
import type { Connection } from './connection.ts'
import type { UploadRequest } from './rows.ts'

const REQUESTS =
  'SELECT id, path, source, feed, at, version AS versionId, reason FROM requests WHERE'

export function requests(db: Connection) {
  return {
    request: (id: number) => db.row<UploadRequest>(`${REQUESTS} id = ?`, id),

    /** openRequests returns the requests without an answer, oldest first. */
    openRequests: () =>
      db.rows<UploadRequest>(`${REQUESTS} version IS NULL AND reason IS NULL ORDER BY id`),

    addRequest: (file: Pick<UploadRequest, 'path' | 'source' | 'feed' | 'at'>): UploadRequest => {
      const sql =
        'INSERT INTO requests (path, source, feed, at) VALUES (@path, @source, @feed, @at)'
      return { ...file, id: db.run(sql, file).id, versionId: null, reason: null }
    },

    /** answerRequest records which version the file became, or why it became no version. Throws for an unknown id. */
    answerRequest: (id: number, answer: { versionId: number } | { reason: string }): void => {
      const values = { id, versionId: null, reason: null, ...answer }
      const sql = 'UPDATE requests SET version = @versionId, reason = @reason WHERE id = @id'
      if (db.run(sql, values).changes === 0) throw new FeedsyncError(`there is no request ${id}`)
    },
  }
}
