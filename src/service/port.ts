// The types by which the rest of the program uses the sponsorship service.

import type { Failure } from '../domain/decision-table.ts'

/** UploadForm is the pre-signed form of specification section 2. It is a credential: never store it, never log it. */
export interface UploadForm {
  url: string
  /** The later address of the file; null if the service names none. */
  fileUrl: string | null
  /** The fields in the order of the service's answer, with their exact names and values. */
  fields: ReadonlyArray<readonly [name: string, value: string]>
}

export type FormAnswer = { kind: 'form'; form: UploadForm } | { kind: 'failure'; failure: Failure }

/** FormSource asks the service for upload forms. It signs each call anew, with the service's clock. */
export interface FormSource {
  /**
   * requestForm asks for one form. It repeats the request only if a wrong clock dated the request. `account` is the
   * partner account of the feed; null means the configured identity. `path` is the feed's file in the folder, for the
   * message about a missing account.
   */
  requestForm(account: string | null, signal: AbortSignal, path?: string): Promise<FormAnswer>
  /** Origin of the service: the key of its breaker. */
  readonly origin: string
  /** clockSkewMs returns the service's time minus ours in ms; null until an answer has a Date header. */
  clockSkewMs(): number | null
  /** reloadKey reads the key again after its file changed. Throws `FeedsyncError` if the key cannot be used. */
  reloadKey(): void
}
