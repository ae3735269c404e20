// What is remembered over a restart, beside the campaigns: a request that was seen, and an object that was stored.

import type { FaultKind, Side } from './fault-types.ts'

export class SeenRequest {
  /** Counted from 1 over both sides, in order of arrival. */
  n = 0
  side: Side = 'service'
  method = ''
  /** `presign`, `presign-bulk`, `validate`, `campaign-create` (`-search`, `-get`, `-update`), `store`, `fetch`, or `unknown`. */
  route = 'unknown'
  account: string | null = null
  /** Key of the object: known on the storage once the form was read, on the service once it was issued. */
  key: string | null = null
  /** Status of the answer; null where none was sent (yet). */
  status: number | null = null
  /** The answer's error code: S3's (`AccessDenied`), or the service's (`signature-mismatch`). */
  code: string | null = null
  /** Bytes of the request body read so far. */
  bytes = 0
  /** Bytes of the file read so far; null until its first byte is due. */
  fileBytes: number | null = null
  /** Whether this request put an object into the storage. */
  stored = false
  /** Kinds of the faults that were played. */
  faults: readonly FaultKind[] = []
  /** Whether it waits at a gate now. */
  held = false
  /** The same number for requests on the same connection; counted from 1 on each side. */
  connection = 0
  /** Wall ms. */
  startedAt = 0
  /** Wall ms; null while it runs. */
  endedAt: number | null = null
}

export interface StoredObject {
  readonly key: string
  readonly bytes: number
  readonly sha256: string
  readonly md5: string
  /** Wall ms. */
  readonly receivedAt: number
  /** The account that the form was issued to. */
  readonly account: string | null
  /** How often the key was written: more than once means that a client sent the same form again. */
  readonly writes: number
  /** Absolute path of the bytes. */
  readonly path: string
}
