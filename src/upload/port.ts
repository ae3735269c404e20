// The types that other rooms use to send one version to storage.

import type { Failure } from '../domain/decision-table.ts'
import type { FormFacts } from './form.ts'

/** Parcel is a version to send. */
export interface Parcel {
  /** The id of the version. */
  id: number
  /** The feed of the version: the breaker counts the feeds that an origin refuses. */
  feed: string
  /** The spool file: private, immutable, checked. */
  file: string
  bytes: number
  /** In lower-case hex. */
  md5: string
  /** The partner account; null means the configured identity. */
  account: string | null
  /** The path of the file in the folder. */
  path: string
  /** True if a person asked for an attempt now: the attempt ignores holds and breakers. */
  isForced: boolean
}

/** Tally counts the bytes of the file that an attempt has sent, and keeps the status of the last answer. */
export interface Tally {
  bytesSent: number
  status: number | null
}

/** NotAccepted is a failure, with the times (wall ms) before which another attempt would fail, too. */
export interface NotAccepted {
  kind: 'failed'
  failure: Failure
  /** The next probe of the origin; null if the origin is not down. */
  notBefore: number | null
  /** Why and until when the account waits; null if the service did not refuse the credentials. */
  hold: { failure: Failure; until: number } | null
}

export type Prepared =
  | { kind: 'form'; form: FormFacts }
  /**
   * An origin is down until its next probe at `until` (wall ms): nothing was requested, so this does not count as an
   * attempt.
   */
  | { kind: 'closed'; failure: Failure; until: number }
  | NotAccepted
  | { kind: 'aborted' }

export type Answered =
  | { kind: 'stored'; fileUrl: string | null; etagVerified: boolean; warning: string | null }
  | NotAccepted
  | { kind: 'aborted' }

/** Sender has the two steps of an attempt. Neither step throws because of the network, the service or storage. */
export interface Sender {
  /** prepare asks for a form for the version, or uses the form that an earlier attempt kept. It sends no file. */
  prepare(parcel: Parcel, tally: Tally, signal: AbortSignal): Promise<Prepared>
  /** post sends the file once. `progress` reports the bytes of the file that the socket has taken so far. */
  post(sending: Sending, tally: Tally, signal: AbortSignal): Promise<Answered>
  /** forget drops what earlier attempts of the feed kept. Call it when the feed's version needs no other attempt. */
  forget(feed: string): void
}

export interface Sending {
  parcel: Parcel
  form: FormFacts
  progress?: ((bytesSent: number) => void) | undefined
}

/** UploadHealth is the state of one origin, or of the service and its storages together. */
export interface UploadHealth {
  /**
   * `unknown`: no request was sent yet. `degraded`: the last request had a transient failure, or an origin is down for
   * single accounts. `down`: the breaker for all accounts is open.
   */
  state: 'ok' | 'degraded' | 'down' | 'unknown'
  /** A plain sentence; null if ok or unknown. */
  reason: string | null
  /** Wall ms of the next probe; null while a probe runs and in any state but `down`. */
  nextProbeAt: number | null
}
