// When the campaigns are looked at: at the start, when their file changed and rests, after an upload, after
// a person's decision, and each hour. One look at a time, apart from the deliveries: a failure
// here is reported, and uploads continue. What a look does is in app/reconcile.ts.

import { type Clock, HOUR, MINUTE, SECOND } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { CampaignRun } from '../ops/port.ts'

export interface ScheduleParts {
  clock: Clock
  log: Log
  /** Tells a person what is wrong, and what to do. */
  notifyOperator: (message: string, hint: string | null) => void
  /** Changes with the campaigns file; null: there is none, and none is asked for. */
  stamp: () => string | null
  /** What the database says by now; never throws. */
  memory: () => CampaignMemory
  /** Looks, and in mode `apply` writes; null: there is no file. Nothing new is sent after `stop`. */
  look: (cause: string, stop: AbortSignal, abort: AbortSignal) => Promise<CampaignRun | null>
}

export interface CampaignMemory {
  /** Another text when a person decided since, in another process; null: the last word was the daemon's. */
  decision: string | null
  /** How the last look ended, whoever made it; null: there was none, or it cannot be read now. */
  run: CampaignRun | null
}

export interface ScheduleSignals {
  stop: AbortSignal
  abort: AbortSignal
}

/** An editor may write a file in several steps. */
const STABLE_MS = 2 * SECOND
/** Between two polls of the file and of decisions: the loop may turn far more often. Not more than the rest. */
const POLL_MS = STABLE_MS
const INTERVAL_MS = HOUR
/** After a look that could not be made, or one that left something unknown. */
const AGAIN_MS = {
  ...{ busy: 10 * SECOND, failed: 5 * MINUTE, refused: 15 * MINUTE, credentials: 15 * MINUTE },
  unknown: 2 * MINUTE,
  soon: 10 * SECOND,
}
/** For so long a reduction that failed, and a write without an answer, are looked after that soon. */
const SOON_FOR_MS = 2 * MINUTE
/** What is in no listing by then is held for a person. */
const UNKNOWN_FOR_MS = 15 * MINUTE
/** These causes wait for a gap after each look: a look takes at most a twentieth of the time. */
const PATIENT = new Set(['upload', 'decision'])
const LEAST_GAP_MS = 5 * SECOND
const SHARE = 20

export class CampaignSchedule {
  readonly #parts: ScheduleParts
  #running: Promise<void> | null = null
  /** Ends the look that runs: what it reads is about a file that changed. */
  #outdated = new AbortController()
  #last: CampaignRun | null = null
  #lastMessage = ''
  #stamp: string | null = null
  #decision: string | null = null
  #pollAt = Number.NEGATIVE_INFINITY
  /** Monotonic ms at which each cause is due. */
  readonly #due = new Map<string, number>()
  #notBefore = Number.NEGATIVE_INFINITY
  /** Monotonic ms since when a reduction fails. */
  #owedSince: number | null = null

  constructor(parts: ScheduleParts) {
    this.#parts = parts
    this.#stamp = parts.stamp()
    if (this.#stamp !== null) this.#last = parts.memory().run
    this.#due.set('start', Number.NEGATIVE_INFINITY)
  }

  /** How the last look ended, also before a restart; null: there was none, or there is no file. */
  get last(): CampaignRun | null {
    return this.#last
  }

  get running(): readonly Promise<void>[] {
    return this.#running === null ? [] : [this.#running]
  }

  /** A feed was uploaded: its postings may have changed what the campaigns select. */
  uploaded(): void {
    this.#plan('upload', this.#parts.clock.monotonic())
  }

  /** A person asks for a look (SIGHUP). */
  again(): void {
    this.#plan('reload', this.#parts.clock.monotonic())
  }

  /** Starts a look that is due; `ended` is called after it. */
  start(signals: ScheduleSignals, ended: () => void): void {
    const now = this.#parts.clock.monotonic()
    this.#poll(now)
    if (this.#running !== null || signals.stop.aborted) return
    const isDue = ([cause, at]: [string, number]) =>
      at <= now && (!PATIENT.has(cause) || this.#notBefore <= now)
    const [cause] = [...this.#due].find(isDue) ?? []
    if (cause === undefined) return
    this.#running = this.#run(cause, signals).finally(() => {
      this.#running = null
      ended()
    })
  }

  /** A single look now, after whatever runs. */
  async once(signals: ScheduleSignals): Promise<void> {
    await this.#running
    if (!signals.stop.aborted) await this.#run('once', signals)
  }

  #poll(now: number): void {
    if (now < this.#pollAt) return
    this.#pollAt = now + POLL_MS
    const stamp = this.#parts.stamp()
    if (stamp !== this.#stamp) {
      this.#stamp = stamp
      this.#due.set('file', now + STABLE_MS)
      // A reduction does not wait for a listing that takes its time.
      this.#outdated.abort()
    }
    if (stamp === null) return
    const { decision, run } = this.#parts.memory()
    this.#last = run ?? this.#last
    if (decision === null || decision === this.#decision) return
    this.#decision = decision
    this.#plan('decision', now)
  }

  async #run(cause: string, { stop, abort }: ScheduleSignals): Promise<void> {
    const { clock, log, look } = this.#parts
    this.#due.clear()
    // What is decided from here on may not be seen by this look.
    this.#decision = this.#parts.memory().decision
    const began = clock.monotonic()
    let wait = INTERVAL_MS
    this.#outdated = new AbortController()
    const outdated = this.#outdated.signal
    try {
      this.#last = await look(cause, AbortSignal.any([stop, outdated]), abort)
      if (this.#last !== null) {
        this.#tell(this.#last)
        wait = this.#waitAfter(this.#last, clock.monotonic())
      }
    } catch (error) {
      if (stop.aborted || outdated.aborted) return
      this.#last = this.#parts.memory().run ?? this.#last
      log.error(
        { event: 'campaigns.not-looked', err: error },
        'the campaigns could not be checked; uploads go on',
      )
      this.#notify(messageOf(error), 'feedsyncd campaigns plan')
      wait = AGAIN_MS.failed
    }
    const ended = clock.monotonic()
    // Where the next look is due earlier all the same, nothing waits beyond it.
    this.#notBefore = ended + Math.min(wait, Math.max(LEAST_GAP_MS, SHARE * (ended - began)))
    // What another process kept from being looked at is still the reason to look.
    this.#plan(this.#last?.state === 'busy' ? cause : 'interval', ended + wait)
  }

  #plan(cause: string, at: number): void {
    this.#due.set(cause, Math.min(at, this.#due.get(cause) ?? Number.POSITIVE_INFINITY))
  }

  #tell({ state, problem, hint, done, waiting, pending, planId, cause, mode }: CampaignRun): void {
    const { log } = this.#parts
    log.info(
      {
        event: 'campaigns.looked',
        cause,
        mode,
        state,
        planId,
        pending,
        done,
        waiting: waiting.length,
      },
      'campaigns looked at',
    )
    if (problem !== null) this.#notify(`campaigns: ${problem}`, hint)
    else if (waiting.length > 0)
      this.#notify(
        `campaigns: ${waiting.length === 1 ? '1 change needs' : `${waiting.length} changes need`} your decision: ${waiting.map(({ key }) => key).join(', ')}`,
        'feedsyncd campaigns plan says why',
      )
    else this.#lastMessage = ''
  }

  #waitAfter(run: CampaignRun, now: number): number {
    this.#owedSince = run.owesReduction === true ? (this.#owedSince ?? now) : null
    // A key that the service refuses is no matter of time.
    if (this.#owedSince === null || run.state === 'credentials') return waitAfter(run)
    return now - this.#owedSince < SOON_FOR_MS ? AGAIN_MS.soon : AGAIN_MS.unknown
  }

  /** The same thing is said once, however often it is seen. */
  #notify(message: string, hint: string | null): void {
    if (message === this.#lastMessage) return
    this.#lastMessage = message
    this.#parts.notifyOperator(message, hint)
  }
}

function waitAfter({ at, pending, state, waiting }: CampaignRun): number {
  switch (state) {
    case 'busy':
    case 'failed':
    case 'refused':
    case 'credentials':
      return AGAIN_MS[state]
    case 'done':
    case 'stopped':
    case 'unusable': {
      // What was refused stays so; the others may pass.
      const ages = waiting.flatMap(({ action, passes, since = at }) =>
        action === 'unknown' || (passes && action !== 'failed')
          ? [Date.parse(at) - Date.parse(since)]
          : [],
      )
      const youngest = Math.min(...ages)
      // Where the service limits calls, each look might leave one more create unknown.
      if (youngest < SOON_FOR_MS && pending === 0) return AGAIN_MS.soon
      return youngest < UNKNOWN_FOR_MS ? AGAIN_MS.unknown : INTERVAL_MS
    }
    default:
      return state satisfies never
  }
}
