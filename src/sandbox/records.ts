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
  /** key is the object's key or the campaign's id. The storage sets it after the form, the service at the answer. */
  key: string | null = null
  /** status is the status of the answer; null if no answer was sent so far. */
  status: number | null = null
  /**
   * code is the error code of S3 (`AccessDenied`), of the service (`signature-mismatch`), of node:http for a request
   * that it cannot parse, or `sandbox-bug: …`. It is null for a success.
   */
  code: string | null = null
  /** bytes is how many bytes of the body the sandbox has read so far. */
  bytes = 0
  /** fileBytes is how many bytes of the file in the form the storage has read so far; null before the file begins. */
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

/** RequestDetails are what a client sent and what the sandbox answered. A body is text of at most 64 KiB. */
export interface RequestDetails {
  path: string
  query: string
  /** headers are in the order in which they came. The value of an API key is `(hidden)`. */
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
  /** account is the account that received the form; null for the form of a partner as a whole. */
  readonly account: string | null
}

export interface StoredObject extends ReceivedObject {
  /** writes is how often the key was written: above 1 if a client sent a form again, or two forms had this key. */
  readonly writes: number
  /** written is the number of this write among all writes of the storage, from 1. */
  readonly written: number
  /** path is the absolute path of the bytes. */
  readonly path: string
}
