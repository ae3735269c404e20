// What the rest of the program knows of the sponsorship service.

import type { Failure } from '../upload/port.ts'

/** The pre-signed form of specification section 2. A credential: never stored, never logged. */
export interface UploadForm {
  url: string
  fileUrl: string
  /** In the order given; names and values byte-exact. */
  fields: ReadonlyArray<readonly [name: string, value: string]>
}

export type FormAnswer = { kind: 'form'; form: UploadForm } | { kind: 'failure'; failure: Failure }

/** Asks the service for upload forms. Each call is signed afresh with the service's clock. */
export interface FormSource {
  /** `account`: the partner account of the feed, or null for the configured identity. One request, no retry. */
  requestForm(account: string | null, signal: AbortSignal): Promise<FormAnswer>
  /** Origin of the service, the key of its breaker. */
  readonly origin: string
  /** Service time minus ours in ms, as last measured in an answer's Date; null until then. */
  clockSkewMs(): number | null
  /** Reads the key again: after the file changed, on SIGHUP. Throws `FeedsyncError` when it cannot be used. */
  reloadKey(): void
}
