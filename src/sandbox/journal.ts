// Owns the list of requests that the sandbox saw, for tests and for `/_sandbox/requests`.
// Refuses anything secret: no header, no query, no form field but the object's key.

import type { Clock } from '../lib/clock.ts'
import type { Changes } from './changes.ts'
import type { FaultKind, Side } from './fault-types.ts'

export interface SeenRequest {
  /** Counted from 1 over both sides, in order of arrival. */
  readonly n: number
  readonly side: Side
  readonly method: string
  /** `presign`, `presign-bulk`, `validate`, `campaign-create` (`-search`, `-get`, `-update`), `store`, or `unknown`. */
  route: string
  account: string | null
  /** Key of the object: known on the storage once the form was read, on the service once it was issued. */
  key: string | null
  /** Status of the answer; null where none was sent (yet). */
  status: number | null
  /** The answer's error code: S3's (`AccessDenied`), or the service's (`signature-mismatch`). */
  code: string | null
  /** Bytes of the request body read so far. */
  bytes: number
  /** Bytes of the file read so far; null until its first byte is due. */
  fileBytes: number | null
  /** Whether this request put an object into the storage. */
  stored: boolean
  /** Kinds of the faults that were played. */
  faults: readonly FaultKind[]
  /** Whether it waits at a gate now. */
  held: boolean
  /** The same number for requests on the same connection; counted from 1 on each side. */
  readonly connection: number
  /** Wall ms. */
  readonly startedAt: number
  /** Wall ms; null while it runs. */
  endedAt: number | null
}

export class Journal {
  readonly #clock: Clock
  readonly #changes: Changes
  readonly #entries: SeenRequest[] = []

  constructor(clock: Clock, changes: Changes) {
    this.#clock = clock
    this.#changes = changes
  }

  open(side: Side, method: string, route: string, connection: number): SeenRequest {
    const entry: SeenRequest = {
      n: this.#entries.length + 1,
      side,
      method,
      route,
      account: null,
      key: null,
      status: null,
      code: null,
      bytes: 0,
      fileBytes: null,
      stored: false,
      faults: [],
      held: false,
      connection,
      startedAt: this.#clock.now(),
      endedAt: null,
    }
    this.#entries.push(entry)
    this.#changes.notify()
    return entry
  }

  update(entry: SeenRequest, patch: Partial<SeenRequest>): void {
    Object.assign(entry, patch)
    this.#changes.notify()
  }

  close(entry: SeenRequest): void {
    if (entry.endedAt === null) this.update(entry, { endedAt: this.#clock.now() })
  }

  /** Copies, oldest first. */
  list(): SeenRequest[] {
    return this.#entries.map((entry) => ({ ...entry }))
  }

  find(predicate: (request: SeenRequest) => boolean): SeenRequest | undefined {
    const found = this.#entries.find(predicate)
    return found === undefined ? undefined : { ...found }
  }
}
