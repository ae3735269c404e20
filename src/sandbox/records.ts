// This file defines the records of the database: a request that arrived with its details, and an object that was
// stored.

export type Side = 'service' | 'storage'

export class SeenRequest {
  /** n counts from 1 over both sides, in order of arrival. */
  n = 0
  side: Side = 'service'
  method = ''
  /**
   * route is `presign`, `presign-bulk`, `validate`, `campaign-create`, `campaign-search`, `campaign-get`,
   * `campaign-update`, `store`, `fetch`, `control`, `unparseable` or `unknown`.
   */
  route = 'unknown'
  account: string | null = null
  /** key is the object's key or the campaign's id. The storage records it after the form, the service at the answer. */
  key: string | null = null
  /** status is the status of the answer; null until an answer is sent. */
  status: number | null = null
  /** code is the error code of S3 (`AccessDenied`) or of the service (`signature-mismatch`). */
  code: string | null = null
  /** bytes is the number of bytes of the body that were read so far. */
  bytes = 0
  /** fileBytes is the number of bytes of the file that were read so far; null before the file. */
  fileBytes: number | null = null
  /** stored says that this request stored an object. */
  stored = false
  /** faults are the kinds of the faults that the request met. */
  faults: readonly string[] = []
  /** held says that the request waits at a gate now. */
  held = false
  /** connection is the number of the connection, counted from 1 on each side. */
  connection = 0
  /** startedAt is in wall-clock ms. */
  startedAt = 0
  /** endedAt is in wall-clock ms; null while the request runs. */
  endedAt: number | null = null
}

/** RequestDetails are what was sent and answered. A body is text, of its first 64 KiB. */
export interface RequestDetails {
  path: string
  query: string
  /** headers are in the order in which they came; an API key is hidden. */
  headers: readonly (readonly [name: string, value: string])[]
  body: string
  answerHeaders: Readonly<Record<string, string>>
  answerBody: string
}

/** ReceivedObject is an object whose last byte has come. */
export interface ReceivedObject {
  readonly key: string
  readonly bytes: number
  readonly sha256: string
  readonly md5: string
  /** receivedAt is in wall-clock ms. */
  readonly receivedAt: number
  /** account is the account that received the form. */
  readonly account: string | null
}

export interface StoredObject extends ReceivedObject {
  /** writes counts how often the key was written; more than 1 means that a client sent a form again. */
  readonly writes: number
  /** written counts all writes of the storage, so that the newest write has the largest number. */
  readonly written: number
  /** path is the absolute path of the bytes. */
  readonly path: string
}
