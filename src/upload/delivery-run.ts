// Owns the attempts of one delivery: which form is used, what each attempt comes to, and its durable record.
// It does not wait; it says what to wait for.

import { SECOND } from '../lib/clock.ts'
import { RULES, type Verdict } from '../lib/decision-table.ts'
import type { Log } from '../lib/log.ts'
import type { FormSource } from '../service/port.ts'
import {
  type Attempt,
  codeOf,
  isThrottled,
  lessonOf,
  md5Of,
  type NotStored,
  outcomeOf,
  outsidePolicy,
  refusedInGeneral,
  spoolDiffers,
  waitingFor,
} from './attempt-end.ts'
import type { Breakers, Lesson } from './breaker.ts'
import { type FormFacts, readFormFacts } from './form.ts'
import type { GeneralRefusals } from './general-refusals.ts'
import type { Delivery, DeliveryResult, Failure, UploadCounters } from './port.ts'
import { type PostParts, postFile } from './post.ts'
import type { RetryQuota } from './quota.ts'
import { type NextStep, queueDelay, RetryBudget } from './retry.ts'

export interface RunParts extends PostParts {
  forms: FormSource
  log: Log
  random: () => number
  breakers: Breakers
  quota: RetryQuota
  general: GeneralRefusals
  counters: UploadCounters
  /** Where the newest form leads; null before the first one. */
  storageOrigin: string | null
  /** Bytes a second that an upload is expected to reach, for whether a form lives long enough. */
  expectedRate: number
}

/** Ends an attempt that is followed by another one. */
export class TryAgain extends Error {
  readonly delayMs: number
  readonly result: DeliveryResult

  constructor(delayMs: number, result: DeliveryResult) {
    super('the attempt failed and another one follows')
    this.delayMs = delayMs
    this.result = result
  }
}

/** A form must live this much longer than the upload is expected to take, in ms. */
const FORM_MARGIN = 5 * SECOND

export class DeliveryRun {
  readonly #parts: RunParts
  readonly #delivery: Delivery
  readonly #signal: AbortSignal
  readonly #budget: RetryBudget
  #facts: FormFacts | null = null
  #attempts = 0
  #postFailed = false
  #lastFailure: Failure | null = null
  /** To the retry quota, for the attempt that runs. */
  #paid: number | null = null
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

  /** @throws TryAgain when another attempt should follow. */
  async attempt(): Promise<DeliveryResult> {
    const blocked = this.#blocked()
    // What this delivery met itself tells a person more than that it waits.
    if (blocked !== null)
      return this.#later(this.#lastFailure ?? blocked.failure, blocked.failure.retryAfterMs)
    const handle = await this.#delivery.attempts.started(this.#facts?.key ?? null)
    if (handle === null) return { kind: 'aborted' }
    this.#attempts += 1
    this.#parts.counters.attempts += 1
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
      this.#parts.counters.bytesSent += this.#bytesSent
    }
    return this.#conclude(attempt)
  }

  #conclude(attempt: Attempt): DeliveryResult {
    const { counters, log } = this.#parts
    if (attempt.kind === 'stored') {
      counters.stored += 1
      if (this.#facts !== null) this.#parts.quota.succeeded(this.#facts.origin, this.#paid)
    }
    if (attempt.kind !== 'failed') return attempt
    counters.failures += 1
    const { failure, rule } = attempt.verdict
    this.#lastFailure = failure
    const step = this.#affordable(attempt.verdict)
    const { reason, code, status, ambiguous } = failure
    const wait = step.kind === 'end' ? null : step.delayMs
    log.warn(
      { code, status, reason, ambiguous, rule: rule.name, next: step.kind, delayMs: wait },
      'upload attempt failed',
    )
    if (step.kind === 'end') {
      const final = { ...failure, next: 'stop' as const }
      return final.class === 'credentials'
        ? { kind: 'credentials', failure: final }
        : { kind: 'refused', failure: final }
    }
    const later = this.#later(failure, step.delayMs)
    if (step.kind === 'later') return later
    if (step.form === 'new') this.#facts = null
    throw new TryAgain(step.delayMs, later)
  }

  /** What the budget allows, and the quota of the origin as well. */
  #affordable(verdict: Verdict): NextStep {
    const since = this.#delivery.attempts.failingSince(verdict.failure.code) ?? this.#startedAt
    const step = this.#budget.next(verdict, this.#parts.clock.now() - since)
    const { origin } = verdict.failure
    if (step.kind !== 'again' || origin === null) return step
    this.#paid = this.#parts.quota.pay(origin, isThrottled(verdict.rule))
    return this.#paid === null ? { kind: 'later', delayMs: null } : step
  }

  /** `delayMs` null: the usual wait of a queued version. An open breaker decides in place of either. */
  #later(failure: Failure, delayMs: number | null): DeliveryResult {
    const { clock, breakers, random } = this.#parts
    const pause = failure.origin === null ? 0 : breakers.of(failure.origin).waitMs()
    const attempts = this.#delivery.attemptsBefore + this.#attempts
    const wait = delayMs ?? Math.max(queueDelay(attempts, random), failure.retryAfterMs ?? 0)
    return { kind: 'later', at: clock.now() + (pause > 0 ? pause : wait), failure }
  }

  /** Looks at both breakers before a form is asked for in vain. */
  #blocked(): Verdict | null {
    const { breakers, forms, storageOrigin } = this.#parts
    const origins = this.#facts === null ? [forms.origin] : []
    if (storageOrigin !== null) origins.push(storageOrigin)
    const shut = origins.find((origin) => breakers.of(origin).waitMs() > 0)
    return shut === undefined ? null : waitingFor(shut, breakers.of(shut))
  }

  async #try(): Promise<Attempt> {
    const facts = await this.#usableForm()
    if (facts.kind !== 'facts') return facts
    this.#facts = facts
    this.#parts.storageOrigin = facts.origin
    const { bytes } = this.#delivery
    if (bytes < facts.minBytes || bytes > facts.maxBytes)
      return { kind: 'failed', verdict: outsidePolicy(bytes, facts) }
    return this.#through(facts.origin, () => this.#post(facts))
  }

  /** The form at hand while it lives long enough; otherwise a new one, and one more if that is short-lived. */
  async #usableForm(): Promise<FormFacts | NotStored> {
    if (this.#facts !== null && !(this.#isShortLived(this.#facts) && this.#budget.hasForms))
      return this.#facts
    this.#facts = null
    const facts = await this.#askForm()
    if (facts.kind !== 'facts' || !this.#isShortLived(facts)) return facts
    const again = this.#budget.hasForms ? await this.#askForm() : facts
    if (again.kind === 'facts' && this.#isShortLived(again))
      this.#parts.log.warn(
        { expiresAt: again.expiresAt, bytes: this.#delivery.bytes },
        'the form expires before the upload can be expected to end; it is used all the same',
      )
    return again
  }

  #isShortLived({ expiresAt }: FormFacts): boolean {
    const { clock, forms, expectedRate } = this.#parts
    const now = clock.now() + (forms.clockSkewMs() ?? 0)
    const needed = FORM_MARGIN + (this.#delivery.bytes / expectedRate) * SECOND
    return expiresAt !== null && expiresAt - now < needed
  }

  async #askForm(): Promise<FormFacts | NotStored> {
    const { forms } = this.#parts
    return this.#through(forms.origin, async () => {
      this.#budget.formAsked()
      const { account, path } = this.#delivery
      const answer = await forms.requestForm(account, this.#signal, path)
      if (answer.kind === 'form') return readFormFacts(answer.form)
      if (this.#signal.aborted) return { kind: 'aborted' }
      const { failure, rule } = answer
      this.#status = failure.status
      return { kind: 'failed', verdict: { failure, rule } }
    })
  }

  async #post(facts: FormFacts): Promise<Attempt> {
    const { file, bytes, md5 } = this.#delivery
    this.#budget.posted()
    const { bytesSent, status, ...result } = await postFile(
      this.#parts,
      {
        ...{ facts, file, bytes, md5, freshConnection: this.#postFailed },
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
    if (result.kind === 'failed' && result.verdict.rule === RULES.digestDiffers) {
      const found = await md5Of(file)
      if (found !== md5) return { kind: 'failed', verdict: spoolDiffers() }
    }
    return result
  }

  /** Sends only what the origin's breaker lets through, and tells it what came of that. */
  async #through<T extends { kind: string }>(
    origin: string,
    send: () => Promise<T | NotStored>,
  ): Promise<T | NotStored> {
    const breaker = this.#parts.breakers.of(origin)
    const permit = breaker.enter()
    if (permit === null) return { kind: 'failed', verdict: waitingFor(origin, breaker) }
    let lesson: Lesson = { kind: 'nothing' }
    try {
      const result = this.#weigh(await send(), origin)
      lesson = lessonOf(result)
      return result
    } finally {
      breaker.leave(permit, lesson)
    }
  }

  /** A refusal that every feed meets is no verdict on this one. */
  #weigh<T extends { kind: string }>(result: T | NotStored, origin: string): T | NotStored {
    const { general } = this.#parts
    if (result.kind === 'aborted') return result
    if (!('verdict' in result)) general.accepted(origin)
    else if (result.verdict.failure.class === 'broken' && result.verdict.failure.origin !== null)
      if (general.refused(origin, this.#delivery.feed))
        return { kind: 'failed', verdict: refusedInGeneral(result.verdict) }
    return result
  }
}
