// Owns the files that `feedsyncd upload` hands to a running daemon.

import { FeedsyncError } from '../lib/errors.ts'
import type { Connection } from './connection.ts'
import type { Requests } from './port.ts'
import type { UploadRequest } from './records.ts'

const FIELDS = 'id, path, source, feed, at, version AS versionId, problem'

export function requests(db: Connection): Requests {
  const one = db.query<[id: number], UploadRequest>(`SELECT ${FIELDS} FROM requests WHERE id = ?`)
  const open = db.query<[], UploadRequest>(
    `SELECT ${FIELDS} FROM requests WHERE version IS NULL AND problem IS NULL ORDER BY id`,
  )
  const add = db.query<[Pick<UploadRequest, 'path' | 'source' | 'feed' | 'at'>]>(
    'INSERT INTO requests (path, source, feed, at) VALUES (@path, @source, @feed, @at)',
  )
  const answer = db.query<[version: number | null, problem: string | null, id: number]>(
    'UPDATE requests SET version = ?, problem = ? WHERE id = ?',
  )

  return {
    request: (id) => one.get(id) ?? null,
    openRequests: () => open.all(),
    addRequest: (file) => ({ ...file, id: add.run(file).id, versionId: null, problem: null }),
    answerRequest: (id, result) => {
      const [versionId, problem] =
        'versionId' in result ? [result.versionId, null] : [null, result.problem]
      if (answer.run(versionId, problem, id).changes === 0)
        throw new FeedsyncError(`there is no request ${id}`)
    },
  }
}
