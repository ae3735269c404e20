// Runs one attempt to send a version: prepare, commit, post, commit. A step works outside the database and returns what
// it found; decide/sending.ts says what this means for the version, and this file writes the decision. Nothing waits
// here for the next attempt: a version that waits is a row of the history.

import { type Failure, failureOf, RULES } from '../domain/decision-table.ts'
import { COPY_GONE, RETRIED } from '../domain/reason-codes.ts'
import type { HeldDifference, History, Version } from '../history/port.ts'
import { untilWritten } from '../history/until-written.ts'
import type { Clock } from '../lib/clock.ts'
import { isRetryable } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Spool } from '../spool/port.ts'
import type { NotAccepted, Parcel, Sender, Tally } from '../upload/port.ts'
import type { Compared, Comparisons } from './baselines.ts'
import { decideSending, type Held, type SendEvent, type Try } from './decide/sending.ts'
import { sendFacts } from './facts.ts'
import type { Ledger } from './ledger.ts'
import type { PostDelivery } from './post-delivery.ts'

interface AttemptParts {
  clock: Clock
  comparisons: Comparisons
  history: History
  ledger: Ledger
  log: Log
  postDelivery: PostDelivery
  sender: Sender
  spool: Spool
  /** onProgress reports the bytes of a version that the network has taken so far. */
  onProgress: (id: number, sent: number, total: number) => void
  /** observer counts attempts for the metrics; null if metrics are off. */
  observer: AttemptObserver | null
  /** random returns a number from 0 to 1, for the jitter of the waits. */
  random: () => number
  /** reconcile asks the campaigns to look at the new postings soon (campaigns/schedule.ts). */
  reconcile: () => void
}

/** AttemptFigures are what the metrics count of an attempt. */
interface AttemptFigures {
  status: number | null
  bytesSent: number
  ms: number
}

export interface AttemptObserver {
  attemptEnded(attempt: AttemptFigures): void
  /** retried counts a further attempt of a version; `status` is the answer to the previous attempt. */
  retried(status: number | null): void
}

const COPY_IS_GONE: NotAccepted = {
  kind: 'failed',
  failure: failureOf(RULES.spoolChanged, {
    code: COPY_GONE,
    reason: 'the copy of the file in the state directory is gone',
  }),
  notBefore: null,
  hold: null,
}

/** Attempted is a version after an attempt. `failure` is why the attempt failed, or null if it did not fail. */
export interface Attempted {
  version: Version
  failure: Failure | null
}

/** Stepped is what the steps found: an event to write, or a version that must not be sent now. */
type Stepped = { event: Exclude<SendEvent, { kind: 'prepared' }> } | { version: Version }

/** Written is a version after a decision. */
interface Written {
  version: Version
  /** True if the decision ended an attempt. */
  isCounted: boolean
}

export class AttemptRunner {
  readonly #clock: Clock
  readonly #comparisons: Comparisons
  readonly #history: History
  readonly #ledger: Ledger
  readonly #log: Log
  readonly #postDelivery: PostDelivery
  readonly #sender: Sender
  readonly #spool: Spool
  readonly #observer: AttemptObserver | null
  readonly #onProgress: AttemptParts['onProgress']
  readonly #random: () => number
  readonly #reconcile: () => void

  constructor(parts: AttemptParts) {
    this.#clock = parts.clock
    this.#comparisons = parts.comparisons
    this.#history = parts.history
    this.#ledger = parts.ledger
    this.#log = parts.log
    this.#postDelivery = parts.postDelivery
    this.#sender = parts.sender
    this.#spool = parts.spool
    this.#observer = parts.observer
    this.#onProgress = parts.onProgress
    this.#random = parts.random
    this.#reconcile = parts.reconcile
  }

  /**
   * run makes one attempt and returns the version after it. It calls `onStored` before it records that storage has the
   * file. Throws an error of the disk or the database, after which the version still waits, and a fault of ours, after
   * which the version has failed.
   */
  async run(queued: Version, signal: AbortSignal, onStored = () => {}): Promise<Attempted> {
    const beganAt = this.#clock.monotonic()
    const found = await this.#steps(queued, signal)
    if ('version' in found) return this.#finish(found.version, null)
    const { event } = found
    if (event.kind === 'stored') onStored()
    // The write waits until a full disk has room again. Else a file that storage confirmed would be sent again.
    const writer = { clock: this.#clock, history: this.#history, log: this.#log }
    const write = () => this.#write(queued.id, event)
    const { isCounted, version } = await untilWritten(writer, write, signal)
    if (isCounted && 'attempt' in event)
      this.#count(version, { ...event.attempt, ms: this.#clock.monotonic() - beganAt })
    if (event.kind === 'fault') throw event.error
    if (event.kind !== 'failed') return this.#finish(version, null)
    this.#logFailure(version, event.failure)
    return this.#finish(version, event.failure)
  }

  /** #count tells the metrics of an attempt that has ended. */
  #count({ attempts, id }: Version, figures: AttemptFigures): void {
    this.#observer?.attemptEnded(figures)
    if (this.#observer === null || attempts <= 1) return
    this.#observer.retried(this.#history.attempts(id, 2)[0]?.status ?? null)
  }

  /** #finish cleans up after a version that is not queued again, drops its form, and tells the campaigns of uploads. */
  async #finish(version: Version, failure: Failure | null): Promise<Attempted> {
    if (version.state === 'queued') return { version, failure }
    this.#sender.forget(version.feed)
    await this.#postDelivery.cleanUp(version)
    // New postings can change what the campaigns select (campaigns/schedule.ts).
    if (version.state === 'uploaded') this.#reconcile()
    return { version, failure }
  }

  /** #steps prepares the upload, writes the attempt with its object key into the history, and posts the copy. */
  async #steps(queued: Version, signal: AbortSignal): Promise<Stepped> {
    const { id } = queued
    const tally: Tally = { bytesSent: 0, status: null }
    const startedAt = this.#clock.now()
    let key: string | null = null
    const attempt = (): Try => ({ ...tally, startedAt, endedAt: this.#clock.now(), key })
    const failed = (found: NotAccepted): Stepped => ({
      event: { ...found, attempt: attempt(), random: this.#random() },
    })
    try {
      const parcel = this.#parcelOf(queued)
      if (parcel === null) return failed(COPY_IS_GONE)
      const prepared = await this.#sender.prepare(parcel, tally, signal)
      if (prepared.kind === 'aborted') return { version: queued }
      if (prepared.kind === 'closed') return { event: prepared }
      if (prepared.kind === 'failed') return failed(prepared)
      const { form } = prepared
      const compared = await this.#comparisons.of(queued)
      const copied = { ...queued, copy: parcel.file }
      const difference = queued.approved
        ? null
        : await this.#comparisons.differenceIfHeld(copied, compared, signal)
      key = form.key
      const begun = { kind: 'prepared', startedAt, key } as const
      const version = await this.#begin(id, begun, { compared, difference })
      if (version.state !== 'uploading') return { version }
      const progress = (sent: number) => this.#onProgress(id, sent, parcel.bytes)
      const answered = await this.#sender.post({ parcel, form, progress }, tally, signal)
      return answered.kind === 'failed'
        ? failed(answered)
        : { event: { ...answered, attempt: attempt() } }
    } catch (error) {
      // The daemon stopped while it compared the version: nothing was sent.
      if (signal.aborted && key === null) return { version: queued }
      // Nothing was sent, so there is nothing to write to a disk that is full.
      if (isRetryable(error) && key === null) throw error
      return { event: { kind: 'fault', attempt: attempt(), error } }
    }
  }

  /**
   * #begin writes that the form has come, and returns the version: it is `uploading`, or it must not be sent now. A
   * version that a guard holds keeps the difference.
   */
  async #begin(
    id: number,
    begun: Extract<SendEvent, { kind: 'prepared' }>,
    { compared, difference }: { compared: Compared; difference: HeldDifference | null },
  ): Promise<Version> {
    return this.#history.commit(() => {
      const { version } = this.#write(id, begun, compared)
      if (version.state === 'held' && difference !== null)
        this.#history.keepDifference(id, difference)
      return version
    })
  }

  /** #parcelOf returns what is sent of a version; null without a copy. */
  #parcelOf(version: Version): Parcel | null {
    const { id, account, bytes, feed, md5, path, reasonCode, spool } = version
    if (spool === null) return null
    const file = this.#spool.path(spool)
    const isForced = reasonCode === RETRIED
    return { id, account, feed, path, file, isForced, bytes: bytes ?? 0, md5: md5 ?? '' }
  }

  /** #write decides about the event and writes the decision. Call it within a transaction. */
  #write(id: number, event: SendEvent, compared: Compared = new Map()): Written {
    const heldNow = (version: Version): Held | null => this.#comparisons.judge(version, compared)
    const reads = { history: this.#history, now: this.#clock.now() }
    const facts = sendFacts(reads, { id, event }, heldNow)
    const transitions = decideSending(facts, event)
    const changed = this.#ledger.write(transitions)
    return {
      version: changed.find((version) => version.id === id) ?? facts.version,
      isCounted: transitions.some((each) => 'end' in each && each.end !== null),
    }
  }

  #logFailure({ feed, id, nextAttemptAt, state }: Version, failure: Failure): void {
    const { ambiguous, code, reason, rule, status } = failure
    const until = state === 'queued' ? nextAttemptAt : null
    const waitMs = until === null ? null : Math.max(0, until - this.#clock.now())
    this.#log.warn(
      {
        event: 'upload.failed',
        id,
        feed,
        code,
        status,
        reason,
        ambiguous,
        rule: rule.name,
        waitMs,
      },
      `${feed}: an attempt to upload failed: ${reason}`,
    )
  }
}
