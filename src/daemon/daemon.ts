// Owns when each step happens. One loop lists the folder when it is time, takes ready files, starts due attempts, and
// waits for the next due time or for a wake signal. An error of our own disk or database ends a round, not the daemon.
// intake.ts looks at the folder, take-queue.ts takes files in, sending.ts sends versions out, and pipeline/pipeline.ts
// is the story of a feed.

import type { Conditions } from '../domain/conditions.ts'
import type { History } from '../history/port.ts'
import type { Inbox } from '../inbox/folder.ts'
import { type Clock, SECOND, unlessAborted, WakeSignal } from '../lib/clock.ts'
import { type FeedsyncError, isRetryable } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { AlertDesk } from '../ops/alerts/desk.ts'
import type { Pulse } from '../ops/port.ts'
import type { Supervisor } from '../ops/systemd/supervisor.ts'
import type { PostDelivery } from '../pipeline/post-delivery.ts'
import type { FailurePause } from './failure-pause.ts'
import type { Intake } from './intake.ts'
import type { SendQueue } from './send-queue.ts'
import type { Sending } from './sending.ts'
import type { TakeQueue } from './take-queue.ts'
import type { Upkeep } from './upkeep.ts'
import type { WaitClock } from './wait-clock.ts'

/** CampaignLooks is what the daemon asks of the campaigns (campaigns/schedule.ts). */
interface CampaignLooks {
  readonly running: readonly Promise<void>[]
  /** start begins a look at the campaigns if a look is due, and calls `ended` after the look. */
  start(signals: RunOptions, ended: () => void): void
  /** once looks at the campaigns one more time, as soon as no other look runs. */
  once(signals: RunOptions): Promise<void>
}

export interface DaemonParts {
  alerts: AlertDesk
  campaigns: CampaignLooks
  clock: Clock
  conditions: Conditions
  /** heartbeat writes the daemon's file when something has changed, and at least every 30 s (heartbeat.ts). */
  heartbeat: () => void
  history: History
  inbox: Inbox
  /** Files that never become quiet are read as they are after this time (`inbox.incompleteAfter`). */
  incompleteAfterMs: number
  intake: Intake
  log: Log
  pause: FailurePause
  postDelivery: PostDelivery
  sendQueue: SendQueue
  sending: Sending
  supervisor: Supervisor
  takeQueue: TakeQueue
  upkeep: Upkeep
  waits: WaitClock
  /** watch checks the conditions and the host until it is disposed, even while the loop hangs. */
  watch: (options: RunOptions) => Disposable
}

interface RunOptions {
  /**
   * Whether the daemon takes and delivers the files that are in the folder, and then ends. It waits for files that are
   * still being written, but not longer than `incompleteAfterMs` after its start.
   */
  once: boolean
  /** After this signal the daemon starts nothing new. Running work can finish until `abort`. */
  stop: AbortSignal
  /** This signal ends all running work. */
  abort: AbortSignal
}

/** The daemon looks this often for decisions of other processes, so that they take effect within 2 s. */
const POLL_MS = SECOND
/** The shortest time between two rounds, because many files and attempts send thousands of wake signals. */
const ROUND_GAP_MS = 5
/** `run --once` ends when errors have followed each other without a break for longer than this. */
const ONCE_FAILING_MS = 2 * SECOND
const LOOK_GIVEN_UP_MS = 2 * SECOND
/** The start waits at most this long until the folder is watched, because its disk might never answer. */
const WATCH_PATIENCE_MS = 2 * SECOND

export class Daemon {
  readonly #alerts: AlertDesk
  readonly #campaigns: CampaignLooks
  readonly #clock: Clock
  readonly #conditions: Conditions
  readonly #heartbeat: () => void
  readonly #history: History
  readonly #inbox: Inbox
  readonly #incompleteAfterMs: number
  readonly #intake: Intake
  readonly #log: Log
  readonly #pause: FailurePause
  readonly #postDelivery: PostDelivery
  readonly #sendQueue: SendQueue
  readonly #sending: Sending
  readonly #supervisor: Supervisor
  readonly #takeQueue: TakeQueue
  readonly #upkeep: Upkeep
  readonly #waits: WaitClock
  readonly #watch: DaemonParts['watch']
  readonly #wakeSignal: WakeSignal
  /** Aborted when the database is lost, because no further work could be recorded. */
  readonly #halt = new AbortController()
  #lost: FeedsyncError | null = null
  /** Monotonic ms. */
  #roundStartedAt: number
  #stage: Pulse['stage'] = 'starting'
  /** What a stopping daemon waits for, in words. */
  #waitsFor = 'its start'

  constructor(parts: DaemonParts) {
    this.#alerts = parts.alerts
    this.#campaigns = parts.campaigns
    this.#clock = parts.clock
    this.#conditions = parts.conditions
    this.#heartbeat = parts.heartbeat
    this.#history = parts.history
    this.#inbox = parts.inbox
    this.#incompleteAfterMs = parts.incompleteAfterMs
    this.#intake = parts.intake
    this.#log = parts.log
    this.#pause = parts.pause
    this.#postDelivery = parts.postDelivery
    this.#sendQueue = parts.sendQueue
    this.#sending = parts.sending
    this.#supervisor = parts.supervisor
    this.#takeQueue = parts.takeQueue
    this.#upkeep = parts.upkeep
    this.#waits = parts.waits
    this.#watch = parts.watch
    this.#wakeSignal = new WakeSignal(parts.clock)
    this.#roundStartedAt = parts.clock.monotonic()
  }

  /**
   * run runs until `stop`, or with `once` until nothing more can be done now, and then waits for the work that still
   * runs. Returns the error of a lost database; null if the database was not lost.
   */
  async run(asked: RunOptions): Promise<FeedsyncError | null> {
    const { signal } = this.#halt
    const stop = AbortSignal.any([asked.stop, signal])
    const options = { once: asked.once, stop, abort: AbortSignal.any([asked.abort, signal]) }
    options.stop.addEventListener('abort', () => this.#wakeSignal.raise())
    await unlessAborted(this.#start(options), options.stop)
    using _watch = this.#watch(options)
    const givesUpAt = this.#clock.monotonic() + this.#incompleteAfterMs
    this.#stage = 'running'
    if (!options.once) this.#supervisor.ready(() => this.pulse())
    while (!options.stop.aborted) {
      this.#roundStartedAt = this.#clock.monotonic()
      this.#round(options)
      if (options.stop.aborted) break
      this.#alerts.sendDue(options.abort)
      if (!options.once) this.#campaigns.start(options, () => this.#wakeSignal.raise())
      const isLate = this.#clock.monotonic() > givesUpAt
      if (options.once && this.#pause.pauseOnError(() => this.#isDone({ isLate }))) break
      const ms = this.#pause.pauseOnError(() => this.#msToNext()) ?? this.#pause.remainingMs()
      await this.#wakeSignal.wait(ms)
      const rest = this.#roundStartedAt + ROUND_GAP_MS - this.#clock.monotonic()
      if (rest > 0) await this.#clock.sleep(rest, options.stop)
    }
    if (options.once) await this.#campaigns.once(options)
    await this.#finish(options, asked.abort)
    return this.#lost
  }

  /**
   * #finish waits for the work that still runs, and sends the last alerts until `abortAlerts`. The signals of `options`
   * do not end the alerts, because a lost database aborts these signals, too.
   */
  async #finish(options: RunOptions, abortAlerts: AbortSignal): Promise<void> {
    this.#stage = 'stopping'
    const told = options.once ? null : this.#supervisor.stopping()
    this.#log.info({ event: 'daemon.stopping', running: this.#sending.running.length }, 'stopping')
    // Giving up a listing loses nothing, and the disk might never answer.
    await this.#waitFor('the folder', this.#patiently(this.#intake.looking, LOOK_GIVEN_UP_MS))
    await this.#waitFor('old history', this.#upkeep.pruning)
    await this.#waitFor('feeds', ...this.#takeQueue.running, ...this.#sending.running)
    await this.#waitFor('files that are moved', this.#postDelivery.finish())
    await this.#waitFor('campaigns', ...this.#campaigns.running)
    this.#heartbeat()
    // Send the alert of a lost database now, because perhaps nobody starts feedsyncd again.
    const flush = options.once || this.#lost !== null
    await this.#waitFor('alerts', this.#alerts.finish({ flush, signal: abortAlerts }))
    await this.#waitFor('systemd', told)
    this.#log.info({ event: 'daemon.stopped' }, 'daemon stopped')
  }

  /** #waitFor waits for all of `work`, and keeps `what` for the message of `reportStuck`. */
  async #waitFor(what: string, ...work: readonly unknown[]): Promise<void> {
    this.#waitsFor = what
    await Promise.all(work)
    this.#waitsFor = 'its threads'
  }

  /** reportStuck sets a condition that says what a stopping daemon still waited for when it was ended by force. */
  reportStuck(): void {
    this.#conditions.set('stop-stuck', {
      message: `feedsyncd had to end and still waited for ${this.#waitsFor}: it is ended by force`,
      hint: 'nothing is lost: the next start continues from the history',
    })
  }

  /** pulse returns the health of the loop for the supervisor and the web endpoint. */
  pulse(): Pulse {
    return {
      stage: this.#stage,
      sinceRoundMs: this.#clock.monotonic() - this.#roundStartedAt,
    }
  }

  async #start({ once }: RunOptions): Promise<void> {
    const hint = () => {
      this.#intake.hint()
      this.#wakeSignal.raise()
    }
    if (!once) await this.#patiently(this.#inbox.watch(hint), WATCH_PATIENCE_MS)
    this.#heartbeat()
    this.#log.info(
      { event: 'daemon.started', ...this.#inbox.watchMode, inbox: this.#inbox.absolute('.') },
      'daemon started',
    )
  }

  /** #patiently waits for work, but at most `ms`: a disk might never answer. */
  async #patiently(work: Promise<unknown> | null, ms: number): Promise<void> {
    const over = new AbortController()
    try {
      await Promise.race([work, this.#clock.sleep(ms, over.signal)])
    } finally {
      over.abort()
    }
  }

  /** #round starts all work that is due, and waits for none of it. */
  #round(options: RunOptions): void {
    try {
      if (this.#haltIfLost() || this.#pause.remainingMs() > 0) return
      this.#intake.look((error) => {
        // The stop ends the listing thread, so a look that fails after the stop means nothing.
        if (error !== undefined && this.#stage === 'running') this.#beginPause(error)
        this.#wakeSignal.raise()
      })
      this.#sendQueue.takeRequests()
      this.#takeQueue.start(options.stop, {
        taken: () => this.#startSending(options),
        ended: (error) => this.#ended(error),
      })
      this.#startSending(options)
      this.#upkeep.keepLogSmall()
      this.#upkeep.prune(options.stop, (error) => this.#onError(error))
    } catch (error) {
      this.#beginPause(error)
    } finally {
      // The heartbeat goes on during a failure pause, because the daemon is alive.
      this.#heartbeat()
    }
  }

  #startSending(options: RunOptions): void {
    if (options.stop.aborted || this.#haltIfLost()) return
    this.#waits.look()
    this.#sending.start(options.abort, {
      ended: (error) => this.#ended(error),
      freed: () => {
        try {
          this.#startSending(options)
        } catch (error) {
          this.#onError(error)
        }
      },
    })
  }

  /** #ended handles the error of work that a round started, if there is an error, and wakes the loop. */
  #ended(error?: unknown): void {
    if (error !== undefined) this.#onError(error)
    this.#wakeSignal.raise()
  }

  /**
   * #haltIfLost returns whether the database was lost. When it finds the loss, it sets the condition and ends all work.
   * Call it before new work begins.
   */
  #haltIfLost(): boolean {
    if (this.#lost !== null) return true
    this.#lost = this.#history.lost()
    if (this.#lost === null) return false
    const { hint, message } = this.#lost
    this.#conditions.set('database-lost', { message, hint })
    this.#halt.abort()
    return true
  }

  /** #onError begins a failure pause for an error of our disk or database. A bug that one feed met is only logged. */
  #onError(error: unknown): void {
    if (isRetryable(error)) this.#beginPause(error)
    else this.#pause.logFault(error)
  }

  /** #beginPause begins a failure pause, during which all feeds stay in their states, and asks for a new listing. */
  #beginPause(error: unknown): void {
    this.#pause.begin(error)
    this.#intake.hint()
  }

  /**
   * #isDone returns whether `run --once` can end. If `isLate`, `run --once` no longer waits for unsettled files or for
   * a look that is stuck.
   */
  #isDone({ isLate }: { isLate: boolean }): boolean {
    if (!this.#takeQueue.isEmpty || this.#postDelivery.isMoving) return false
    if (this.#sending.running.length > 0) return false
    if (this.#intake.looking !== null && !(isLate && this.#intake.isStuck)) return false
    if (this.#pause.remainingMs() > 0) return this.#pause.failingForMs() > ONCE_FAILING_MS
    return !this.#sendQueue.hasDue && (isLate || !this.#intake.isUnsettled)
  }

  #msToNext(): number {
    const now = this.#clock.monotonic()
    const pause = this.#pause.remainingMs()
    if (pause > 0) return pause
    const due = this.#history.nextDueAt(this.#clock.now())
    const next = Math.min(
      POLL_MS,
      this.#intake.nextAt() - now,
      due === null ? POLL_MS : due - this.#clock.now(),
    )
    return Math.max(0, next)
  }
}
