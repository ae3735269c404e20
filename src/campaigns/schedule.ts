// Decides when the daemon looks at the campaigns: at its start, two seconds after a change of the file, after an
// upload, and each hour. One look runs at a time, independent of the deliveries. When a look fails, the daemon notifies
// the operator and continues to upload. See campaigns/reconcile.ts for what a look does.

import { commandFor, hintWith } from '../domain/command.ts'
import { type Clock, HOUR, MINUTE, SECOND } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { CampaignRun } from '../ops/campaigns/run.ts'
import { needsPerson } from './judged-entry.ts'

export type LookCause = 'start' | 'file' | 'upload' | 'interval' | 'once'

/** Looks has what the schedule calls. `lastRun` and `isPaused` never throw. */
export interface Looks {
  /** stamp returns a text that changes with the campaigns file; null if there is no file, and none is configured. */
  stamp(): string | null
  /** lastRun returns the last result of any process; null without a result, or if the database cannot be read. */
  lastRun(): CampaignRun | null
  /** isPaused returns whether a person paused all sending. */
  isPaused(): boolean
  /**
   * look compares the campaigns file with the service once. In mode `targeting` it also sends changed targeting. It
   * returns null if there is no campaigns file and no campaign belongs to an entry.
   */
  look(cause: LookCause, signals: LookSignals): Promise<CampaignRun | null>
}

export interface LookSignals {
  /** After `stop` a look sends nothing new. */
  stop: AbortSignal
  /** `abort` also ends a running request. */
  abort: AbortSignal
}

export interface ScheduleOptions {
  looks: Looks
  clock: Clock
  log: Log
  notifyOperator: (message: string, hint: string | null) => void
}

const STABLE_MS = 2 * SECOND
/** The time between two polls of the file. The daemon's loop can run far more often. */
const POLL_MS = STABLE_MS
const INTERVAL_MS = HOUR
/** The time until the next look, by the state of the last one. */
const NEXT_LOOK_MS = {
  busy: 10 * SECOND,
  failed: 5 * MINUTE,
  refused: 15 * MINUTE,
  credentials: 15 * MINUTE,
  done: INTERVAL_MS,
  unusable: INTERVAL_MS,
}
/** Looks after uploads keep a gap of 20 times their own duration, so that they take at most a twentieth of the time. */
const LEAST_GAP_MS = 5 * SECOND
const GAP_FACTOR = 20

export class CampaignSchedule {
  readonly #looks: Looks
  readonly #clock: Clock
  readonly #log: Log
  readonly #notifyOperator: ScheduleOptions['notifyOperator']
  #running: Promise<void> | null = null
  /** Aborted when the campaigns file changes, which ends the look that read the earlier file. */
  #outdated = new AbortController()
  #last: CampaignRun | null = null
  #lastMessage = ''
  #stamp: string | null = null
  #wasPaused = false
  #pollAt = Number.NEGATIVE_INFINITY
  /** For each cause, the monotonic ms at which a look is due. */
  readonly #due = new Map<LookCause, number>()
  /** The monotonic ms before which no look after an upload begins. */
  #notBefore = Number.NEGATIVE_INFINITY

  constructor({ looks, clock, log, notifyOperator }: ScheduleOptions) {
    this.#looks = looks
    this.#clock = clock
    this.#log = log
    this.#notifyOperator = notifyOperator
    this.#stamp = looks.stamp()
    if (this.#stamp !== null) this.#last = looks.lastRun()
    this.#due.set('start', Number.NEGATIVE_INFINITY)
  }

  /** The result of the last look, also from before a restart; null before the first look, or without a file. */
  get last(): CampaignRun | null {
    return this.#last
  }

  get running(): readonly Promise<void>[] {
    return this.#running === null ? [] : [this.#running]
  }

  /** uploaded makes a look due, because a new upload can change which postings the campaigns select. */
  uploaded(): void {
    this.#makeDue('upload', this.#clock.monotonic())
  }

  /** start begins a look if one is due, and calls `ended` after it. */
  start(signals: LookSignals, ended: () => void): void {
    const now = this.#clock.monotonic()
    this.#poll(now)
    if (this.#running !== null || signals.stop.aborted) return
    const isDue = ([cause, at]: [string, number]) =>
      at <= now && (cause !== 'upload' || this.#notBefore <= now)
    // A look after an upload only reads; a look for another cause writes, too, and goes first.
    const due = [...this.#due].filter(isDue).map(([cause]) => cause)
    const cause = due.find((one) => one !== 'upload') ?? due[0]
    if (cause === undefined) return
    this.#running = this.#run(cause, signals).finally(() => {
      this.#running = null
      ended()
    })
  }

  /** once waits for a running look to end, and then makes a look for the command `run --once`. */
  async once(signals: LookSignals): Promise<void> {
    await this.#running
    if (!signals.stop.aborted) await this.#run('once', signals)
  }

  #poll(now: number): void {
    if (now < this.#pollAt) return
    this.#pollAt = now + POLL_MS
    const stamp = this.#looks.stamp()
    if (stamp !== this.#stamp) {
      this.#stamp = stamp
      this.#due.set('file', now + STABLE_MS)
      this.#outdated.abort()
    }
    const isPaused = this.#looks.isPaused()
    // Nothing was sent during the pause, so a look is due now.
    if (this.#wasPaused && !isPaused) this.#makeDue('interval', now)
    this.#wasPaused = isPaused
    // A person's command might have saved a newer result.
    if (stamp !== null) this.#last = this.#looks.lastRun() ?? this.#last
  }

  async #run(cause: LookCause, { stop, abort }: LookSignals): Promise<void> {
    const began = this.#clock.monotonic()
    // A look does the work of every cause that is due, but a look after an upload only reads, so other causes stay due.
    for (const [one, at] of this.#due)
      if (at <= began && (cause !== 'upload' || one === 'upload')) this.#due.delete(one)
    let wait = INTERVAL_MS
    this.#outdated = new AbortController()
    const outdated = this.#outdated.signal
    try {
      const signals = { stop: AbortSignal.any([stop, outdated]), abort }
      this.#last = await this.#looks.look(cause, signals)
      if (this.#last !== null) this.#report(this.#last)
      wait = NEXT_LOOK_MS[this.#last?.state ?? 'done']
    } catch (error) {
      if (stop.aborted || outdated.aborted) return
      this.#last = this.#looks.lastRun() ?? this.#last
      this.#log.error(
        { event: 'campaigns.not-looked', err: error },
        'the campaigns could not be checked; uploads go on',
      )
      this.#notify(messageOf(error), hintWith(null, commandFor('campaigns plan')))
      wait = NEXT_LOOK_MS.failed
    }
    const ended = this.#clock.monotonic()
    this.#notBefore = ended + Math.max(LEAST_GAP_MS, GAP_FACTOR * (ended - began))
    // After `busy`, the same cause is due again, because another process held the lock and nothing was done.
    this.#makeDue(this.#last?.state === 'busy' ? cause : 'interval', ended + wait)
  }

  /** #makeDue makes a look due at `at` (monotonic ms), or earlier if the cause is due earlier already. */
  #makeDue(cause: LookCause, at: number): void {
    this.#due.set(cause, Math.min(at, this.#due.get(cause) ?? Number.POSITIVE_INFINITY))
  }

  /**
   * #report logs a look, and notifies the operator of its problem, or of entries that wait for a person. After a look
   * with neither, it forgets the last message, so that the operator gets the same message again if it comes back.
   */
  #report({ state, problem, hint, cause, mode, entries, failures }: CampaignRun): void {
    const waiting = entries.filter((one) => needsPerson(one.state))
    this.#log.info(
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
    const firstKeys = waiting
      .slice(0, 5)
      .map(({ key }) => key)
      .join(', ')
    const count = waiting.length === 1 ? '1 entry waits' : `${waiting.length} entries wait`
    if (problem !== null) this.#notify(`campaigns: ${problem}`, hint)
    else if (waiting.length > 0)
      this.#notify(
        `campaigns: ${count} for you: ${firstKeys}`,
        hintWith(null, commandFor('campaigns plan')),
      )
    else this.#lastMessage = ''
  }

  /** #notify notifies the operator, unless the last message was the same. */
  #notify(message: string, hint: string | null): void {
    if (message === this.#lastMessage) return
    this.#lastMessage = message
    this.#notifyOperator(message, hint)
  }
}
