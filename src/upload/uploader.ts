// Runs the deliveries: it chooses the form, makes the attempts and records each one durably. Quick attempts follow each
// other within a delivery. A longer wait ends the delivery with the time of the next attempt. retry.ts decides how long
// a wait is, send-gate.ts what may be sent.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { SECOND } from '../lib/clock.ts'
import { failureOf, RULES } from '../lib/decision-table.ts'
import type { Log } from '../lib/log.ts'
import { retry } from '../lib/retry.ts'
import type { FormSource } from '../service/port.ts'
import { type FormFacts, readFormFacts } from './form.ts'
import type { AttemptOutcome, Delivery, DeliveryResult, Failure, Uploader } from './port.ts'
import { type PostParts, postFile, type Tally } from './post.ts'
import { QUICK_MS, QUICK_TRIES, waitAfter } from './retry.ts'
import type { NotSent } from './send-gate.ts'

export interface UploaderOptions extends PostParts {
  forms: FormSource
  log: Log
  /** random returns a number from 0 to 1; the default is Math.random. */
  random?: () => number
}

type Sent = Extract<DeliveryResult, { kind: 'stored' }> | NotSent

/** Ended says how an attempt ended. `againInMs` is the wait before the next attempt of this delivery; null: no more. */
interface Ended {
  result: DeliveryResult
  againInMs: number | null
}

/** USUAL_RATE is what most lines reach, in bytes a second. It only decides whether a form lives long enough. */
const USUAL_RATE = 10 * 1024 * 1024

/** FORM_MARGIN is how much longer than the expected upload a form must live, in ms. */
const FORM_MARGIN = 5 * SECOND

/** KeptForms are the forms of waiting versions, by feed: a file that may be stored must not get a second key. */
type KeptForms = Map<string, { id: number; account: string | null; facts: FormFacts }>

export function createUploader(options: UploaderOptions): Uploader {
  const kept: KeptForms = new Map()
  return (delivery, signal) => deliver(options, kept, delivery, signal)
}

async function deliver(
  { clock, forms, gate, http, log, random = Math.random }: UploaderOptions,
  kept: KeptForms,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<DeliveryResult> {
  const { account, attempts, bytes, feed, id } = delivery
  const before = kept.get(feed)
  let form = before?.id === id && before.account === account ? before.facts : null
  let made = delivery.attemptsBefore
  let quickLeft = QUICK_MS
  let isForced = delivery.isRetried
  let postFailed = false
  let lastFailure: Failure | null = null

  async function attempt(): Promise<Ended> {
    if (signal.aborted) return ended({ kind: 'aborted' })
    const closed = isForced ? null : gate.closedFor(account, form?.origin ?? null)
    // The last failure of this delivery explains more than the closed breaker.
    if (closed !== null) return ended(later(lastFailure ?? closed, closed.retryAfterMs ?? 0))
    const handle = await attempts.started()
    if (handle === null) return ended({ kind: 'aborted' })
    made += 1
    const tally: Tally = { bytesSent: 0, status: null }
    let sent: Sent | null = null
    try {
      sent = await send(handle, tally)
    } finally {
      attempts.ended(handle, {
        ...tally,
        outcome: outcomeOf(sent, tally.bytesSent),
        code: codeOf(sent),
        key: form?.key ?? null,
      })
    }
    isForced = false
    return sent.kind === 'failed' ? afterFailure(sent.failure) : ended(sent)
  }

  async function send(handle: number, tally: Tally): Promise<Sent> {
    const facts = await usableForm(tally)
    if (facts.kind !== 'facts') return facts
    const unfit = outsidePolicy(bytes, facts)
    if (unfit !== null) return { kind: 'failed', failure: unfit }
    return (await attempts.sending(handle, facts.key)) ? post(facts, tally) : { kind: 'aborted' }
  }

  function afterFailure(failure: Failure): Ended {
    lastFailure = failure
    const { reason, code, status, ambiguous, rule } = failure
    const waitMs = isFinal(failure) ? null : waitAfter(failure, made, random)
    log.warn(
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
    if (waitMs === null)
      return ended({ kind: failure.class === 'credentials' ? 'credentials' : 'refused', failure })
    if (rule.freshForm) form = null
    const result = later(failure, waitMs)
    if (waitMs > quickLeft) return ended(result)
    quickLeft -= waitMs
    return { result, againInMs: waitMs }
  }

  function isFinal({ class: kind, code, rule }: Failure): boolean {
    return kind !== 'transient' && (rule.tries === 1 || attempts.attemptsInARow(code) >= rule.tries)
  }

  /** later schedules the next attempt; if the origin is down, not before its next probe. */
  function later(failure: Failure, waitMs: number): DeliveryResult {
    const at = Math.max(clock.now() + waitMs, gate.opensAt(failure.origin) ?? 0)
    return { kind: 'later', at, failure }
  }

  /** usableForm returns the present form if it lives long enough. Otherwise it asks for a new form, at most twice. */
  async function usableForm(tally: Tally): Promise<FormFacts | NotSent> {
    if (form !== null && !isShortLived(form)) return form
    form = null
    let facts = await askForm(tally)
    if (facts.kind === 'facts' && isShortLived(facts)) facts = await askForm(tally)
    if (facts.kind !== 'facts') return facts
    if (isShortLived(facts))
      log.warn(
        { event: 'upload.form-short', id, feed, expiresAt: facts.expiresAt, bytes },
        'the form may expire before the upload ends; it is used anyway',
      )
    form = facts
    gate.setStorageOf(account, facts.origin)
    return facts
  }

  function isShortLived({ expiresAt }: FormFacts): boolean {
    const now = clock.now() + (forms.clockSkewMs() ?? 0)
    const rate = Math.min(gate.bandwidth?.bytesPerSecond ?? USUAL_RATE, USUAL_RATE)
    return expiresAt !== null && expiresAt - now < FORM_MARGIN + (bytes / rate) * SECOND
  }

  function askForm(tally: Tally): Promise<FormFacts | NotSent> {
    return gate.withBreaker(forms.origin, { feed, isForced }, async () => {
      const askedAt = clock.monotonic()
      const answer = await forms.requestForm(account, signal, delivery.path)
      if (answer.kind === 'form') {
        gate.accounts.accept(account, askedAt)
        return readFormFacts(answer.form)
      }
      if (signal.aborted) return { kind: 'aborted' }
      const { failure } = answer
      tally.status = failure.status
      if (failure.rule === RULES.credentials) gate.accounts.refuse(account, failure, askedAt)
      return { kind: 'failed', failure }
    })
  }

  async function post(facts: FormFacts, tally: Tally): Promise<Sent> {
    const what = { ...delivery, facts, freshConnection: postFailed }
    const result = await gate.withBreaker(facts.origin, { feed, isForced }, () =>
      postFile({ clock, gate, http }, what, tally, signal),
    )
    if (result.kind === 'stored') return { ...result, fileUrl: facts.fileUrl }
    postFailed = true
    if (result.kind === 'failed' && result.failure.rule === RULES.digestDiffers) {
      const { file, md5 } = delivery
      // If the copy cannot be read now, the next attempt reports it.
      if ((await md5Of(file).catch(() => md5)) !== md5)
        return { kind: 'failed', failure: spoolDiffers() }
    }
    return result
  }

  const { result, againInMs } = await retry(attempt, (end) => end.againInMs, {
    clock,
    signal,
    tries: QUICK_TRIES,
  })
  if (result.kind === 'later' && form !== null) kept.set(feed, { id, account, facts: form })
  else kept.delete(feed)
  return signal.aborted && againInMs !== null ? { kind: 'aborted' } : result
}

function ended(result: DeliveryResult): Ended {
  return { result, againInMs: null }
}

/** outcomeOf returns the outcome of an attempt. `sent` is null if an error of this program ended it. */
function outcomeOf(sent: Sent | null, bytesSent: number): AttemptOutcome {
  if (sent?.kind === 'stored') return 'stored'
  if (sent?.kind !== 'failed') return bytesSent > 0 ? 'unknown' : 'failed'
  const { class: kind, status, ambiguous } = sent.failure
  if (ambiguous) return 'unknown'
  const refused = kind === 'file' || (kind !== 'transient' && status !== null && status >= 400)
  return refused ? 'refused' : 'failed'
}

function codeOf(sent: Sent | null): string | null {
  if (sent === null) return 'internal'
  if (sent.kind === 'stored') return null
  return sent.kind === 'aborted' ? 'aborted' : sent.failure.code
}

/** outsidePolicy returns why the form does not allow a file of this size, or null. */
function outsidePolicy(bytes: number, { minBytes, maxBytes }: FormFacts): Failure | null {
  if (bytes >= minBytes && bytes <= maxBytes) return null
  const limit =
    bytes > maxBytes ? `takes at most ${maxBytes} bytes` : `needs at least ${minBytes} bytes`
  return failureOf(RULES.sizeOutsidePolicy, {
    code: bytes > maxBytes ? 'file-too-large' : 'file-too-small',
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
