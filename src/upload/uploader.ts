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
import { type PostParts, postFile } from './post.ts'
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

type RunParts = Required<UploaderOptions> & { failing: FailingTimes }

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
  const parts = { random: Math.random, ...options, failing }
  const tries = POSTS_PER_FORM * FORMS_PER_DELIVERY
  return {
    deliver: async (delivery, signal) => {
      const run = new DeliveryRun(parts, delivery, signal)
      const { result, againInMs } = await retry(
        () => run.attempt(),
        (ended) => ended.againInMs,
        { clock: options.clock, signal, tries },
      )
      if (result.kind !== 'later') failing.ended(delivery.id)
      return signal.aborted && againInMs !== null ? { kind: 'aborted' } : result
    },
  }
}

class DeliveryRun {
  readonly #parts: RunParts
  readonly #delivery: Delivery
  readonly #signal: AbortSignal
  readonly #budget: RetryBudget
  #facts: FormFacts | null = null
  #attempts = 0
  #postFailed = false
  #lastFailure: Failure | null = null
  /** Of the attempt that runs. */
  #startedAt = 0
  #bytesSent = 0
  #status: number | null = null

  constructor(parts: RunParts, delivery: Delivery, signal: AbortSignal) {
    this.#parts = parts
    this.#delivery = delivery
    this.#signal = signal
    this.#budget = new RetryBudget(parts.random)
  }

  async attempt(): Promise<Ended> {
    if (this.#signal.aborted) return ended({ kind: 'aborted' })
    const { account } = this.#delivery
    const closed = this.#parts.gate.closedFor(account, this.#facts?.origin ?? null)
    // The failure that this delivery met says more than that it waits.
    if (closed !== null) return ended(this.#later(this.#lastFailure ?? closed, closed.retryAfterMs))
    const handle = await this.#delivery.attempts.started(this.#facts?.key ?? null)
    if (handle === null) return ended({ kind: 'aborted' })
    this.#attempts += 1
    this.#startedAt = this.#parts.clock.now()
    this.#bytesSent = 0
    this.#status = null
    let attempt: Attempt | null = null
    try {
      attempt = await this.#try()
    } finally {
      this.#delivery.attempts.ended(handle, {
        outcome: outcomeOf(attempt, this.#bytesSent),
        status: this.#status,
        code: codeOf(attempt),
        bytesSent: this.#bytesSent,
        key: this.#facts?.key ?? null,
      })
    }
    return this.#conclude(attempt)
  }

  #conclude(attempt: Attempt): Ended {
    const { failing, log } = this.#parts
    if (attempt.kind !== 'failed') return ended(attempt)
    const { failure } = attempt
    this.#lastFailure = failure
    const { reason, code, status, ambiguous, rule } = failure
    const { id, feed } = this.#delivery
    const since = this.#delivery.attempts.failingSince(code) ?? this.#startedAt
    const step = this.#budget.next(failure, failing.of(id, since))
    const wait = step.kind === 'end' ? null : step.delayMs
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
        next: step.kind,
        delayMs: wait,
      },
      `${feed}: an attempt to upload failed: ${reason}`,
    )
    if (step.kind === 'end')
      return ended({ kind: failure.class === 'credentials' ? 'credentials' : 'refused', failure })
    const later = this.#later(failure, step.delayMs)
    if (step.kind === 'later') return ended(later)
    if (step.form === 'new') this.#facts = null
    return { result: later, againInMs: step.delayMs }
  }

  /** `delayMs` null: the usual wait of a queued version. An open breaker decides in place of either. */
  #later(failure: Failure, delayMs: number | null): DeliveryResult {
    const { clock, gate, random } = this.#parts
    const attempts = this.#delivery.attemptsBefore + this.#attempts
    const wait = delayMs ?? Math.max(queueDelay(attempts, random), failure.retryAfterMs ?? 0)
    return { kind: 'later', at: gate.opensAt(failure.origin) ?? clock.now() + wait, failure }
  }

  async #try(): Promise<Attempt> {
    const facts = await this.#usableForm()
    if (facts.kind !== 'facts') return facts
    this.#facts = facts
    const { gate } = this.#parts
    const { account, bytes, feed } = this.#delivery
    gate.leadsTo(account, facts.origin)
    if (bytes < facts.minBytes || bytes > facts.maxBytes)
      return { kind: 'failed', failure: outsidePolicy(bytes, facts) }
    return gate.withBreaker(facts.origin, feed, () => this.#post(facts))
  }

  /** The form at hand while it lives long enough; otherwise a new one, and one more if that is short-lived. */
  async #usableForm(): Promise<FormFacts | NotSent> {
    if (this.#facts !== null && !(this.#isShortLived(this.#facts) && this.#budget.hasForms))
      return this.#facts
    this.#facts = null
    const facts = await this.#askForm()
    if (facts.kind !== 'facts' || !this.#isShortLived(facts)) return facts
    const again = this.#budget.hasForms ? await this.#askForm() : facts
    const { bytes, feed, id } = this.#delivery
    if (again.kind === 'facts' && this.#isShortLived(again))
      this.#parts.log.warn(
        { event: 'upload.form-short', id, feed, expiresAt: again.expiresAt, bytes },
        'the form expires before the upload can be expected to end; it is used all the same',
      )
    return again
  }

  #isShortLived({ expiresAt }: FormFacts): boolean {
    const { clock, forms, gate } = this.#parts
    const now = clock.now() + (forms.clockSkewMs() ?? 0)
    const rate = Math.min(gate.bandwidth?.bytesPerSecond ?? USUAL_RATE, USUAL_RATE)
    const needed = FORM_MARGIN + (this.#delivery.bytes / rate) * SECOND
    return expiresAt !== null && expiresAt - now < needed
  }

  async #askForm(): Promise<FormFacts | NotSent> {
    const { clock, forms, gate } = this.#parts
    const { account, feed, path } = this.#delivery
    return gate.withBreaker(forms.origin, feed, async () => {
      this.#budget.formAsked()
      const askedAt = clock.monotonic()
      const answer = await forms.requestForm(account, this.#signal, path)
      if (answer.kind === 'form') {
        gate.accounts.accept(account, askedAt)
        return readFormFacts(answer.form)
      }
      if (this.#signal.aborted) return { kind: 'aborted' }
      const { failure } = answer
      this.#status = failure.status
      const isDoubted =
        failure.rule === RULES.credentials &&
        gate.accounts.refuse(account, failure, askedAt) === 'again'
      // The one that begins a hold stays the same value: the daemon tells by it which refusal is news.
      if (!isDoubted) return { kind: 'failed', failure }
      return { kind: 'failed', failure: { ...failure, rule: RULES.credentialsDoubted } }
    })
  }

  async #post(facts: FormFacts): Promise<Attempt> {
    this.#budget.posted()
    const { bytesSent, status, ...result } = await postFile(
      this.#parts,
      {
        ...this.#delivery,
        facts,
        freshConnection: this.#postFailed,
        progress: (sent) => {
          this.#bytesSent = sent
          this.#delivery.progress?.(sent)
        },
      },
      this.#signal,
    )
    this.#bytesSent = bytesSent
    this.#status = status
    if (result.kind === 'stored') return { ...result, fileUrl: facts.fileUrl }
    this.#postFailed = true
    if (result.kind === 'failed' && result.failure.rule === RULES.digestDiffers) {
      const { file, md5 } = this.#delivery
      // A copy that cannot be read now is found by the next attempt.
      if ((await md5Of(file).catch(() => md5)) !== md5)
        return { kind: 'failed', failure: spoolDiffers() }
    }
    return result
  }
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
