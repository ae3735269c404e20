// Owns how often and how soon: the budget of one delivery (four posts of a form, three forms), its waits, and
// when the rest is for later. It neither sleeps nor sends.

import { type Clock, MINUTE, SECOND } from '../lib/clock.ts'
import type { Failure, Pace, Rule } from '../lib/decision-table.ts'
import { fullJitter } from '../lib/retry.ts'

export const POSTS_PER_FORM = 4
export const FORMS_PER_DELIVERY = 3

/** A delivery keeps its place for waits up to this. For a longer one the version goes back to the queue. */
const LONGEST_WAIT = MINUTE

/** `job`: of a version that goes back to the queue. */
export const CURVES = {
  transient: { baseMs: SECOND, capMs: MINUTE },
  upload: { baseMs: 2 * SECOND, capMs: 2 * MINUTE },
  throttled: { baseMs: 5 * SECOND, capMs: 5 * MINUTE },
  job: { baseMs: MINUTE, capMs: 30 * MINUTE },
} as const

export type NextStep =
  | { kind: 'again'; form: 'same' | 'new'; delayMs: number }
  /** `delayMs` is null when the usual wait of a queued version applies. */
  | { kind: 'later'; delayMs: number | null }
  | { kind: 'end' }

/** The wait of a version that goes back to the queue. `attempts`: all that were made of it so far. */
export function queueDelay(attempts: number, random: () => number): number {
  return fullJitter(CURVES.job, Math.floor(Math.max(0, attempts - 1) / POSTS_PER_FORM), random)
}

/** Counts the posts and forms of one delivery, and answers what may be tried next. */
export class RetryBudget {
  readonly #random: () => number
  #forms = 0
  #posts = 0
  #failures = 0
  readonly #sameForm = new Map<Rule, number>()
  readonly #newForms = new Map<Rule, number>()

  constructor(random: () => number) {
    this.#random = random
  }

  /** Whether one more form may be asked for. */
  get hasForms(): boolean {
    return this.#forms < FORMS_PER_DELIVERY
  }

  /** A form was asked for. */
  formAsked(): void {
    this.#forms += 1
    this.#posts = 0
    this.#sameForm.clear()
  }

  /** The form at hand was posted. */
  posted(): void {
    this.#posts += 1
  }

  /** `failingMs`: for how long the attempts of this version have ended so. */
  next(failure: Failure, failingMs: number): NextStep {
    const { rule } = failure
    const form = this.#form(rule)
    if (form === null) {
      const goesOn = failure.class === 'transient' || failingMs < rule.keepTryingMs
      return goesOn ? { kind: 'later', delayMs: null } : { kind: 'end' }
    }
    const delayMs = this.#delay(rule, failure.retryAfterMs)
    this.#failures += 1
    const used = form === 'same' ? this.#sameForm : this.#newForms
    used.set(rule, (used.get(rule) ?? 0) + 1)
    if (delayMs > LONGEST_WAIT) return { kind: 'later', delayMs }
    return { kind: 'again', form, delayMs }
  }

  #form(rule: Rule): 'same' | 'new' | null {
    const same = this.#sameForm.get(rule) ?? 0
    if (same < rule.sameForm && this.#posts < POSTS_PER_FORM) return 'same'
    const fresh = this.#newForms.get(rule) ?? 0
    return fresh < rule.newForms && this.hasForms ? 'new' : null
  }

  #delay(rule: Rule, retryAfterMs: number | null): number {
    const first = !this.#sameForm.has(rule) && !this.#newForms.has(rule)
    const own = rule.firstAtOnce && first ? 0 : paced(rule.pace, this.#failures, this.#random)
    return Math.max(own, retryAfterMs ?? 0)
  }
}

/**
 * For how long versions fail alike: before this process heard of it by the wall clock, as it is on record, and from
 * then on by the clock that never jumps.
 */
export class FailingTimes {
  readonly #clock: Clock
  /** By version. */
  readonly #known = new Map<number, { since: number; beforeMs: number; heardAt: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** In ms. `since`: wall ms of the first attempt that ended so. */
  of(id: number, since: number): number {
    const heardAt = this.#clock.monotonic()
    const before = this.#known.get(id)
    const known =
      before?.since === since ? before : { since, beforeMs: this.#clock.now() - since, heardAt }
    this.#known.set(id, known)
    return known.beforeMs + heardAt - known.heardAt
  }

  /** It is delivered, or given up. */
  ended(id: number): void {
    this.#known.delete(id)
  }
}

function paced(pace: Pace, failures: number, random: () => number): number {
  switch (pace) {
    case 'at-once':
      return Math.round(random() * 2 * SECOND)
    case 'two-seconds':
      return 2 * SECOND
    case 'half-minute':
      return 30 * SECOND
    default:
      return fullJitter(CURVES[pace], failures, random)
  }
}
