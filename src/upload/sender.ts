// The two steps of an attempt: get a form, and post the file with it. Neither step knows the history; what their
// results mean for a version is decided in pipeline/decide/sending.ts, and send-gate.ts decides what may be sent.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { type Failure, failureOf, RULES } from '../domain/decision-table.ts'
import { type Clock, SECOND } from '../lib/clock.ts'
import type { HttpClient } from '../lib/http.ts'
import type { Log } from '../lib/log.ts'
import type { FormSource } from '../service/port.ts'
import { type FormFacts, readFormFacts } from './form.ts'
import type { Answered, NotAccepted, Parcel, Prepared, Sender, Sending, Tally } from './port.ts'
import { postFile } from './post.ts'
import type { NotSent, SendGate } from './send-gate.ts'

/** USUAL_RATE is what most lines reach, in bytes a second. It only decides whether a form lives long enough. */
const USUAL_RATE = 10 * 1024 * 1024

/** FORM_MARGIN is how much longer than the expected upload a form must live, in ms. */
const FORM_MARGIN = 5 * SECOND

/**
 * KeptForm is what an attempt leaves for the next attempt of its version. The next attempt uses the same form, so that
 * a file that might be stored does not get a second object key.
 */
interface KeptForm {
  id: number
  account: string | null
  /** The form to use again; null if the next attempt must ask for a new form. */
  form: FormFacts | null
  /** True if a post of the version failed: the next post uses another connection. */
  hasFailed: boolean
  /** The number of posts that got no answer after their last byte. */
  lostAnswers: number
}

export class StorageSender implements Sender {
  readonly #clock: Clock
  readonly #forms: FormSource
  readonly #gate: SendGate
  readonly #http: HttpClient
  readonly #log: Log
  /** The kept forms by feed, because at most one version of a feed is being sent. */
  readonly #kept = new Map<string, KeptForm>()

  constructor({
    clock,
    forms,
    gate,
    http,
    log,
  }: {
    clock: Clock
    forms: FormSource
    gate: SendGate
    http: HttpClient
    log: Log
  }) {
    this.#clock = clock
    this.#forms = forms
    this.#gate = gate
    this.#http = http
    this.#log = log
  }

  async prepare(parcel: Parcel, tally: Tally, signal: AbortSignal): Promise<Prepared> {
    const kept = this.#keptFor(parcel)
    if (signal.aborted) return { kind: 'aborted' }
    const whyClosed = () =>
      parcel.isForced
        ? null
        : this.#gate.origins.whyClosed(parcel.account, kept.form?.origin ?? null)
    const before = whyClosed()
    if (before !== null) return this.#untilProbe(parcel, before)
    const form = await this.#usableForm({ kept, parcel, tally }, signal)
    if (form.kind === 'aborted') return form
    if (form.kind === 'failed') {
      // Another attempt found the origin down while this attempt waited for its form.
      if (form.failure.rule === RULES.waiting) return this.#untilProbe(parcel, form.failure)
      return this.#notAccepted(parcel, form.failure)
    }
    const otherSize = whyNotAllowed(parcel.bytes, form)
    if (otherSize !== null) return this.#notAccepted(parcel, otherSize)
    const after = whyClosed()
    return after === null ? { kind: 'form', form } : this.#untilProbe(parcel, after)
  }

  async post(
    { form, parcel, progress }: Sending,
    tally: Tally,
    signal: AbortSignal,
  ): Promise<Answered> {
    const { account, bytes, feed, file, isForced, md5 } = parcel
    const kept = this.#keptFor(parcel)
    const { hasFailed: freshConnection, lostAnswers } = kept
    const what = { file, bytes, md5, progress, tally, facts: form, freshConnection, lostAnswers }
    const line = { bandwidth: this.#gate.bandwidth, clock: this.#clock, http: this.#http }
    const result = await this.#gate.withBreaker(form.origin, { account, feed, isForced }, () =>
      postFile(what, line, signal),
    )
    if (result.kind === 'stored') return { ...result, fileUrl: form.fileUrl }
    kept.hasFailed = true
    if (result.kind === 'aborted') return result
    const { rule } = result.failure
    if (rule.freshForm) kept.form = null
    if (rule === RULES.lostAfterBody) kept.lostAnswers += 1
    if (rule !== RULES.digestDiffers) return this.#notAccepted(parcel, result.failure)
    // If the copy cannot be read now, the next attempt reports it.
    const isChanged = (await md5Of(file).catch(() => md5)) !== md5
    return this.#notAccepted(parcel, isChanged ? spoolDiffers() : result.failure)
  }

  forget(feed: string): void {
    this.#kept.delete(feed)
  }

  /** #keptFor returns what earlier attempts of this version left. For another version or account it starts anew. */
  #keptFor({ account, feed, id }: Parcel): KeptForm {
    const before = this.#kept.get(feed)
    if (before?.id === id && before.account === account) return before
    const fresh = { id, account, form: null, hasFailed: false, lostAnswers: 0 }
    this.#kept.set(feed, fresh)
    return fresh
  }

  #untilProbe({ account }: Parcel, failure: Failure): Prepared {
    const until = this.#clock.now() + (failure.retryAfterMs ?? 0)
    const opensAt = this.#gate.origins.opensAt(failure.origin, account) ?? 0
    return { kind: 'closed', failure, until: Math.max(until, opensAt) }
  }

  #notAccepted({ account }: Parcel, failure: Failure): NotAccepted {
    const hold = failure.class === 'credentials' ? this.#gate.accounts.holdOf(account) : null
    const notBefore = this.#gate.origins.opensAt(failure.origin, account)
    return { kind: 'failed', failure, notBefore, hold }
  }

  /**
   * #usableForm returns the kept form if it lives long enough. Otherwise it asks for a new form, at most twice, and
   * keeps the new form even if it might expire before the upload ends.
   */
  async #usableForm(
    { kept, parcel, tally }: { kept: KeptForm; parcel: Parcel; tally: Tally },
    signal: AbortSignal,
  ): Promise<FormFacts | NotSent> {
    const isShortLived = ({ expiresAt }: FormFacts) =>
      expiresAt !== null && expiresAt < this.#neededUntil(parcel.bytes)
    if (kept.form !== null && !isShortLived(kept.form)) return kept.form
    kept.form = null
    let form = await this.#askForm(parcel, tally, signal)
    if (form.kind === 'facts' && isShortLived(form))
      form = await this.#askForm(parcel, tally, signal)
    if (form.kind !== 'facts') return form
    if (isShortLived(form)) {
      const { bytes, feed, id } = parcel
      this.#log.warn(
        { event: 'upload.form-short', id, feed, expiresAt: form.expiresAt, bytes },
        'the form might expire before the upload ends; it is used anyway',
      )
    }
    kept.form = form
    this.#gate.origins.setStorageOf(parcel.account, form.origin)
    return form
  }

  /** #neededUntil returns the time by the service's clock (wall ms) until which a form for this size must live. */
  #neededUntil(bytes: number): number {
    const now = this.#clock.now() + (this.#forms.clockSkewMs() ?? 0)
    const rate = Math.min(this.#gate.bandwidth?.bytesPerSecond ?? USUAL_RATE, USUAL_RATE)
    return now + FORM_MARGIN + (bytes / rate) * SECOND
  }

  /** #askForm asks the service for a form, and records in the gate whether the service accepts the account. */
  #askForm(
    { account, feed, isForced, path }: Parcel,
    tally: Tally,
    signal: AbortSignal,
  ): Promise<FormFacts | NotSent> {
    const { accounts } = this.#gate
    const forms = this.#forms
    return this.#gate.withBreaker(forms.origin, { account, feed, isForced }, async () => {
      const askedAt = this.#clock.monotonic()
      const answer = await forms.requestForm(account, signal, path)
      if (answer.kind === 'form') {
        accounts.accept(account, askedAt)
        return readFormFacts(answer.form)
      }
      if (signal.aborted) return { kind: 'aborted' }
      const { failure } = answer
      tally.status = failure.status
      if (failure.rule === RULES.credentials) accounts.refuse(account, failure, askedAt)
      return { kind: 'failed', failure }
    })
  }
}

/** whyNotAllowed returns why the form does not allow a file of this size; null if it does. */
function whyNotAllowed(bytes: number, { sizes }: FormFacts): Failure | null {
  const [min, max] = sizes ?? [0, Number.POSITIVE_INFINITY]
  if (bytes >= min && bytes <= max) return null
  const isLarge = bytes > max
  const limit = isLarge ? `takes at most ${max} bytes` : `needs at least ${min} bytes`
  return failureOf(isLarge ? RULES.largerThanForm : RULES.smallerThanForm, {
    code: isLarge ? 'file-too-large' : 'file-too-small',
    reason: `the file has ${bytes} bytes, and the upload form ${limit}; nothing was sent`,
  })
}

function spoolDiffers(): Failure {
  return failureOf(RULES.spoolChanged, {
    code: 'spool-changed',
    reason: 'the copy of the file in the state directory has changed since it was checked',
  })
}

async function md5Of(path: string): Promise<string> {
  const hash = createHash('md5')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
