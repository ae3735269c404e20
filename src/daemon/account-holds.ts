// Which accounts the service refuses, and which feeds wait for that. A refusal is about its account alone
// unless it shows that the key is: a 401 for an account that was accepted before, or a second account with
// a 401 while none was accepted. So a mistyped folder name holds up nobody else, and a wrong key costs two
// requests, whatever waits. What waits says so in the history, and a person can send it at once.

import type { History, Version } from '../history/port.ts'
import { type Clock, MINUTE } from '../lib/clock.ts'
import { isDue, LONGEST_ATTEMPT_WAIT_MS } from '../lib/due.ts'
import type { Failure } from '../upload/port.ts'

/** Credentials are tried again after this time when no other sign comes earlier. */
const RETRY_MS = 15 * MINUTE

/** Under which the history remembers when the versions that wait for this are due. */
const NOTE = 'refused until'

type Account = string | null

interface Refusal {
  failure: Failure
  /** Monotonic ms. */
  at: number
  until: number
  /** Wall ms: `nextAttemptAt` of the versions that wait for it. */
  retryAt: number
}

export class Refusals {
  readonly #clock: Clock
  readonly #history: History
  /** Ended ones stay until the account is accepted: one request finds out. */
  readonly #refused = new Map<Account, Refusal>()
  /** Since the key is in use. */
  readonly #accepted = new Set<Account>()
  readonly #forms: () => ReadonlyMap<Account, number>
  /** The key itself is refused. */
  #all: Refusal | null = null

  /** `forms`: accounts that the service gave a form for, and when (monotonic ms). */
  constructor(clock: Clock, history: History, forms: () => ReadonlyMap<Account, number>) {
    this.#clock = clock
    this.#forms = forms
    this.#history = history
    // A restart is an occasion to try again, since a key may have come with it.
    for (const retryAt of JSON.parse(history.note(NOTE) ?? '[]') as number[]) this.#release(retryAt)
    history.setNote(NOTE, null)
  }

  /** What a person has to know first; null when no account is refused, or none was so lately. */
  get first(): Failure | null {
    return this.#current()[0]?.[1].failure ?? null
  }

  /** The same text as long as the same accounts are refused, those included that are about to be tried again. */
  get mark(): string {
    const accounts = [...this.#refused.keys()].map((account) => account ?? '')
    return this.#isCurrent(this.#all) ? 'refused' : JSON.stringify(accounts.toSorted())
  }

  /** No account is known to be accepted: it may as well be the key. */
  get isOfKey(): boolean {
    return this.first !== null && this.#accepted.size === 0
  }

  /** While nobody knows whether the key is good, one request at a time finds out. */
  get isDoubted(): boolean {
    return this.#refused.size > 0 && this.#accepted.size === 0
  }

  /** Of this account one version at a time is tried. */
  doubts(account: Account): boolean {
    return this.#refused.has(account)
  }

  /** Whether the credentials were last seen to work: that they are tried again proves nothing. */
  get isTrusted(): boolean {
    return this.#refused.size === 0 && this.#accepted.size > 0
  }

  /** Takes note of whom the service has given a form since. */
  look(): void {
    for (const [account, at] of this.#forms()) this.#accept(account, at)
  }

  /** Makes those wait that would be refused; answers the others. What a person retries is one of these. */
  pass(due: readonly Version[]): Version[] {
    const waiting = new Map<Version, Refusal>()
    for (const version of due) {
      const refusal = this.#refusalOf(version.account)
      if (refusal !== null && !isRetried(version, refusal)) waiting.set(version, refusal)
    }
    if (waiting.size === 0) return [...due]
    this.#history.atomically(() => {
      for (const [version, refusal] of waiting) this.#wait(version, refusal)
    })
    return due.filter((version) => !waiting.has(version))
  }

  /** Answers true when it is news. */
  refused({ id, account }: Version, failure: Failure): boolean {
    const known = this.#refusalOf(account)
    const wasAccepted = this.#accepted.delete(account)
    const at = this.#clock.monotonic()
    const refusal = known ?? {
      ...{ failure, at, until: at + RETRY_MS, retryAt: this.#clock.now() + RETRY_MS },
    }
    const others = this.#current().some(
      ([other, { failure: theirs }]) => other !== account && theirs.status === 401,
    )
    this.#refused.set(account, refusal)
    if (failure.status === 401 && (wasAccepted || (others && this.#accepted.size === 0))) {
      this.#accepted.clear()
      this.#all = refusal
    }
    this.#note()
    const version = this.#history.version(id)
    if (version?.state === 'queued') this.#wait(version, refusal)
    return known === null
  }

  /** The key is another one: what was accepted with the old one proves nothing. */
  newKey(): void {
    this.#accepted.clear()
    this.tryAgain()
  }

  /** Whatever waits is due now. */
  tryAgain(): void {
    const times = this.#times()
    this.#refused.clear()
    this.#all = null
    for (const retryAt of times) this.#release(retryAt)
    this.#note()
  }

  /** A form that came before the refusal says nothing about it. */
  #accept(account: Account, at: number): void {
    const refusal = this.#all ?? this.#refused.get(account)
    if (refusal !== undefined && at < refusal.at) return
    this.#accepted.add(account)
    if (this.#all !== null) this.tryAgain()
    if (!this.#refused.delete(account) || refusal === undefined) return
    this.#release(refusal.retryAt)
    this.#note()
  }

  #refusalOf(account: Account): Refusal | null {
    const refusal = this.#isCurrent(this.#all) ? this.#all : this.#refused.get(account)
    return this.#isCurrent(refusal) ? refusal : null
  }

  #current(): [Account, Refusal][] {
    return [...this.#refused].filter(([, refusal]) => this.#isCurrent(refusal))
  }

  #isCurrent(refusal: Refusal | null | undefined): refusal is Refusal {
    if (refusal == null) return false
    // By the wall as well, since that is what the versions wait by: somebody may have set it.
    const isPast = isDue(refusal.retryAt, this.#clock.now(), LONGEST_ATTEMPT_WAIT_MS)
    return this.#clock.monotonic() < refusal.until && !isPast
  }

  #wait({ id }: Version, { failure, retryAt }: Refusal): void {
    const { reason, hint } = failure
    this.#history.update(id, { reason, hint, nextAttemptAt: retryAt })
  }

  #release(retryAt: number): void {
    for (const { id, nextAttemptAt } of this.#history.list({ states: ['queued'], all: true })) {
      if (nextAttemptAt !== retryAt) continue
      this.#history.update(id, { reason: null, hint: null, nextAttemptAt: null })
    }
  }

  #times(): number[] {
    return [...new Set([...this.#refused.values()].map(({ retryAt }) => retryAt))]
  }

  #note(): void {
    const times = this.#times()
    this.#history.setNote(NOTE, times.length === 0 ? null : JSON.stringify(times))
  }
}

/** A retry takes the hint away and leaves the reason; time alone leaves both. */
function isRetried({ hint, reason }: Version, { failure }: Refusal): boolean {
  return hint === null && reason === failure.reason
}
