// When the campaigns are looked at: at the start, when their file changed and rests, after an upload, and each hour. One
// look runs at a time, apart from the deliveries. When a look fails, the operator is notified and uploads go on.
// app/reconcile.ts says what a look does.

import { type Clock, HOUR, MINUTE, SECOND } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { needsPerson } from './judge.ts'
import type { CampaignRun } from './port.ts'

export type LookCause = 'start' | 'file' | 'upload' | 'interval' | 'once'

export interface ScheduleParts {
  clock: Clock
  log: Log
  /** Tells a person what is wrong, and what to do. */
  notifyOperator: (message: string, hint: string | null) => void
  /** Changes with the campaigns file; null: there is none, and none is asked for. */
  stamp: () => string | null
  /** How the last look of any process ended; null when there was none, or when it cannot be read. Never throws. */
  lastRun: () => CampaignRun | null
  /** Whether a person has paused all that is sent. Never throws. */
  isPaused: () => boolean
  /** Looks, and in mode `targeting` writes; null: there is no file. Nothing new is sent after `stop`. */
  look: (cause: LookCause, stop: AbortSignal, abort: AbortSignal) => Promise<CampaignRun | null>
}

export interface ScheduleSignals {
  stop: AbortSignal
  abort: AbortSignal
}

/** An editor may write a file in several steps. */
const STABLE_MS = 2 * SECOND
/** Between two polls of the file: the loop may turn far more often. */
const POLL_MS = STABLE_MS
const INTERVAL_MS = HOUR
/** After a look that could not be made. */
const AGAIN_MS = {
  busy: 10 * SECOND,
  failed: 5 * MINUTE,
  refused: 15 * MINUTE,
  credentials: 15 * MINUTE,
  done: INTERVAL_MS,
  unusable: INTERVAL_MS,
}
/** After an upload a look waits for a gap: looks take at most a twentieth of the time. */
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
  #wasPaused = false
  #pollAt = Number.NEGATIVE_INFINITY
  /** Monotonic ms at which each cause is due. */
  readonly #due = new Map<LookCause, number>()
  #notBefore = Number.NEGATIVE_INFINITY

  constructor(parts: ScheduleParts) {
    this.#parts = parts
    this.#stamp = parts.stamp()
    if (this.#stamp !== null) this.#last = parts.lastRun()
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

  /** Starts a look that is due; `ended` is called after it. */
  start(signals: ScheduleSignals, ended: () => void): void {
    const now = this.#parts.clock.monotonic()
    this.#poll(now)
    if (this.#running !== null || signals.stop.aborted) return
    const isDue = ([cause, at]: [string, number]) =>
      at <= now && (cause !== 'upload' || this.#notBefore <= now)
    // What only looks gives way to what writes as well.
    const due = [...this.#due].filter(isDue).map(([cause]) => cause)
    const cause = due.find((one) => one !== 'upload') ?? due[0]
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
      this.#outdated.abort()
    }
    const isPaused = this.#parts.isPaused()
    // What was not written meanwhile is due.
    if (this.#wasPaused && !isPaused) this.#plan('interval', now)
    this.#wasPaused = isPaused
    // A person's command may have looked since.
    if (stamp !== null) this.#last = this.#parts.lastRun() ?? this.#last
  }

  async #run(cause: LookCause, { stop, abort }: ScheduleSignals): Promise<void> {
    const { clock, log, look } = this.#parts
    const interval = this.#due.get('interval')
    this.#due.clear()
    // An upload is no reason to keep targeting later than it is due.
    if (cause === 'upload' && interval !== undefined) this.#due.set('interval', interval)
    const began = clock.monotonic()
    let wait = INTERVAL_MS
    this.#outdated = new AbortController()
    const outdated = this.#outdated.signal
    try {
      this.#last = await look(cause, AbortSignal.any([stop, outdated]), abort)
      if (this.#last !== null) this.#tell(this.#last)
      wait = AGAIN_MS[this.#last?.state ?? 'done']
    } catch (error) {
      if (stop.aborted || outdated.aborted) return
      this.#last = this.#parts.lastRun() ?? this.#last
      log.error(
        { event: 'campaigns.not-looked', err: error },
        'the campaigns could not be checked; uploads go on',
      )
      this.#notify(messageOf(error), 'feedsyncd campaigns plan')
      wait = AGAIN_MS.failed
    }
    const ended = clock.monotonic()
    this.#notBefore = ended + Math.max(LEAST_GAP_MS, SHARE * (ended - began))
    // What another process kept from being looked at is still the reason to look.
    this.#plan(this.#last?.state === 'busy' ? cause : 'interval', ended + wait)
  }

  #plan(cause: LookCause, at: number): void {
    this.#due.set(cause, Math.min(at, this.#due.get(cause) ?? Number.POSITIVE_INFINITY))
  }

  #tell({ state, problem, hint, cause, mode, entries, failures }: CampaignRun): void {
    const waiting = entries.filter((one) => needsPerson(one.state))
    this.#parts.log.info(
      {
        event: 'campaigns.looked',
        cause,
        mode,
        state,
        entries: entries.length,
        waiting: waiting.length,
        failures: failures.length,
      },
      'campaigns looked at',
    )
    const some = waiting
      .slice(0, 5)
      .map(({ key }) => key)
      .join(', ')
    const count = waiting.length === 1 ? '1 entry waits' : `${waiting.length} entries wait`
    if (problem !== null) this.#notify(`campaigns: ${problem}`, hint)
    else if (waiting.length > 0)
      this.#notify(`campaigns: ${count} for you: ${some}`, 'feedsyncd campaigns plan')
    else this.#lastMessage = ''
  }

  /** The same thing is said once, however often it is seen. */
  #notify(message: string, hint: string | null): void {
    if (message === this.#lastMessage) return
    this.#lastMessage = message
    this.#parts.notifyOperator(message, hint)
  }
}
