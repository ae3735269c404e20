// Owns the deliveries: which form is used, what each attempt comes to, and its durable record. retry.ts says whether
// another attempt follows and when, send-gate.ts whether anything may be sent.

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
import {
  FailingTimes,
  FORMS_PER_DELIVERY,
  POSTS_PER_FORM,
  queueDelay,
  RetryBudget,
} from './retry.ts'
import type { NotSent } from './send-gate.ts'

export interface UploaderOptions extends PostParts {
  forms: FormSource
  log: Log
  /** From 0 to 1, as Math.random, its default. */
  random?: () => number
}

type Attempt = Extract<DeliveryResult, { kind: 'stored' }> | NotSent

/** `againInMs`: the wait before another attempt of this delivery; null: there is none. `result`: how it ends without one. */
interface Ended {
  result: DeliveryResult
  againInMs: number | null
}

/** Bytes a second that most lines reach. It only decides whether a form lives long enough. */
const USUAL_RATE = 10 * 1024 * 1024

/** A form must live this much longer than the upload is expected to take, in ms. */
const FORM_MARGIN = 5 * SECOND

export function createUploader(options: UploaderOptions): Uploader {
  const failing = new FailingTimes(options.clock)
  return (delivery, signal) => deliver(options, failing, delivery, signal)
}

async function deliver(
  { clock, forms, gate, http, log, random = Math.random }: UploaderOptions,
  failing: FailingTimes,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<DeliveryResult> {
  const { account, attempts, bytes, feed, id } = delivery
  const budget = new RetryBudget(random)
  let form: FormFacts | null = null
  let made = delivery.attemptsBefore
  let postFailed = false
  let lastFailure: Failure | null = null

  async function attempt(): Promise<Ended> {
    if (signal.aborted) return ended({ kind: 'aborted' })
    const closed = gate.closedFor(account, form?.origin ?? null)
    // The failure that this delivery met says more than that it waits.
    if (closed !== null) return ended(later(lastFailure ?? closed, closed.retryAfterMs))
    const handle = await attempts.started(form?.key ?? null)
    if (handle === null) return ended({ kind: 'aborted' })
    made += 1
    const startedAt = clock.now()
    const tally: Tally = { bytesSent: 0, status: null }
    let tried: Attempt | null = null
    try {
      tried = await send(tally)
    } finally {
      attempts.ended(handle, {
        ...tally,
        outcome: outcomeOf(tried, tally.bytesSent),
        code: codeOf(tried),
        key: form?.key ?? null,
      })
    }
    return tried.kind === 'failed' ? afterFailure(tried.failure, startedAt) : ended(tried)
  }

  function afterFailure(failure: Failure, startedAt: number): Ended {
    lastFailure = failure
    const { reason, code, status, ambiguous, rule } = failure
    const step = budget.next(failure, failing.of(id, attempts.failingSince(code) ?? startedAt))
    const delayMs = step.kind === 'end' ? null : step.delayMs
    log.warn(
      {
        event: 'upload.failed',
        ...{ id, feed, code, status, reason, ambiguous },
        ...{ rule: rule.name, next: step.kind, delayMs },
      },
      `${feed}: an attempt to upload failed: ${reason}`,
    )
    if (step.kind === 'end')
      return ended({ kind: failure.class === 'credentials' ? 'credentials' : 'refused', failure })
    const result = later(failure, delayMs)
    if (step.kind === 'later') return ended(result)
    if (step.form === 'new') form = null
    return { result, againInMs: delayMs }
  }

  /** `delayMs` null: the usual wait of a queued version. An open breaker decides in place of either. */
  function later(failure: Failure, delayMs: number | null): DeliveryResult {
    const wait = delayMs ?? Math.max(queueDelay(made, random), failure.retryAfterMs ?? 0)
    return { kind: 'later', at: gate.opensAt(failure.origin) ?? clock.now() + wait, failure }
  }

  async function send(tally: Tally): Promise<Attempt> {
    const facts = await usableForm(tally)
    if (facts.kind !== 'facts') return facts
    form = facts
    gate.leadsTo(account, facts.origin)
    if (bytes < facts.minBytes || bytes > facts.maxBytes)
      return { kind: 'failed', failure: outsidePolicy(bytes, facts) }
    return gate.withBreaker(facts.origin, feed, () => post(facts, tally))
  }

  /** The form at hand while it lives long enough; otherwise a new one, and one more if that is short-lived. */
  async function usableForm(tally: Tally): Promise<FormFacts | NotSent> {
    if (form !== null && !(isShortLived(form) && budget.hasForms)) return form
    form = null
    const facts = await askForm(tally)
    if (facts.kind !== 'facts' || !isShortLived(facts)) return facts
    const again = budget.hasForms ? await askForm(tally) : facts
    if (again.kind === 'facts' && isShortLived(again))
      log.warn(
        { event: 'upload.form-short', id, feed, expiresAt: again.expiresAt, bytes },
        'the form expires before the upload can be expected to end; it is used all the same',
      )
    return again
  }

  function isShortLived({ expiresAt }: FormFacts): boolean {
    const now = clock.now() + (forms.clockSkewMs() ?? 0)
    const rate = Math.min(gate.bandwidth?.bytesPerSecond ?? USUAL_RATE, USUAL_RATE)
    return expiresAt !== null && expiresAt - now < FORM_MARGIN + (bytes / rate) * SECOND
  }

  function askForm(tally: Tally): Promise<FormFacts | NotSent> {
    return gate.withBreaker(forms.origin, feed, async () => {
      budget.formAsked()
      const askedAt = clock.monotonic()
      const answer = await forms.requestForm(account, signal, delivery.path)
      if (answer.kind === 'form') {
        gate.accounts.accept(account, askedAt)
        return readFormFacts(answer.form)
      }
      if (signal.aborted) return { kind: 'aborted' }
      const { failure } = answer
      tally.status = failure.status
      const isDoubted =
        failure.rule === RULES.credentials &&
        gate.accounts.refuse(account, failure, askedAt) === 'again'
      // The one that begins a hold stays the same value: the daemon tells by it which refusal is news.
      if (!isDoubted) return { kind: 'failed', failure }
      return { kind: 'failed', failure: { ...failure, rule: RULES.credentialsDoubted } }
    })
  }

  async function post(facts: FormFacts, tally: Tally): Promise<Attempt> {
    budget.posted()
    const what = { ...delivery, facts, freshConnection: postFailed }
    const result = await postFile({ clock, gate, http }, what, tally, signal)
    if (result.kind === 'stored') return { ...result, fileUrl: facts.fileUrl }
    postFailed = true
    if (result.kind === 'failed' && result.failure.rule === RULES.digestDiffers) {
      const { file, md5 } = delivery
      // A copy that cannot be read now is found by the next attempt.
      if ((await md5Of(file).catch(() => md5)) !== md5)
        return { kind: 'failed', failure: spoolDiffers() }
    }
    return result
  }

  const { result, againInMs } = await retry(attempt, (end) => end.againInMs, {
    ...{ clock, signal, tries: POSTS_PER_FORM * FORMS_PER_DELIVERY },
  })
  if (result.kind !== 'later') failing.ended(id)
  return signal.aborted && againInMs !== null ? { kind: 'aborted' } : result
}

function ended(result: DeliveryResult): Ended {
  return { result, againInMs: null }
}

/** `attempt` is null when an error of this program ended it. */
function outcomeOf(attempt: Attempt | null, bytesSent: number): AttemptOutcome {
  if (attempt?.kind === 'stored') return 'stored'
  if (attempt?.kind !== 'failed') return bytesSent > 0 ? 'unknown' : 'failed'
  const { class: kind, status, ambiguous } = attempt.failure
  if (ambiguous) return 'unknown'
  const refused = kind === 'file' || (kind !== 'transient' && status !== null && status >= 400)
  return refused ? 'refused' : 'failed'
}

function codeOf(attempt: Attempt | null): string | null {
  if (attempt === null) return 'internal'
  if (attempt.kind === 'stored') return null
  return attempt.kind === 'aborted' ? 'aborted' : attempt.failure.code
}

function outsidePolicy(bytes: number, { minBytes, maxBytes }: FormFacts): Failure {
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
    reason: 'the copy of the file in the state directory is no longer what was checked',
  })
}

async function md5Of(path: string): Promise<string> {
  const hash = createHash('md5')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
