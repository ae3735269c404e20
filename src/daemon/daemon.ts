// Owns when each step happens. One loop lists the folder when it is time, takes ready files, starts due attempts, and
// waits for the next due time or for a wake signal. An error of our own disk or database ends a round, not the daemon.
// intake.ts takes files in, sending.ts sends versions out, and pipeline/pipeline.ts is the story of a feed.

import type { CampaignSchedule } from '../campaigns/schedule.ts'
import type { Inbox } from '../inbox/folder.ts'
import type { WatchMode } from '../inbox/port.ts'
import { SECOND, unlessAborted, WakeSignal } from '../lib/clock.ts'
import { isRecent } from '../lib/due.ts'
import { type FeedsyncError, isRetryable } from '../lib/errors.ts'
import type { AlertDesk as Alerts } from '../ops/alerts/desk.ts'
import type { DaemonFile } from '../ops/daemon-file.ts'
import type { DaemonState, Pulse } from '../ops/port.ts'
import type { Supervisor } from '../ops/systemd/supervisor.ts'
import type { Parts } from '../pipeline/parts.ts'
import type { PostDelivery } from '../pipeline/post-delivery.ts'
import { FailurePause } from './failure-pause.ts'
import { type Intake, LANES, type Lane } from './intake.ts'
import type { Sending } from './sending.ts'
import type { Upkeep } from './upkeep.ts'
import type { WaitClock } from './wait-clock.ts'

export interface DaemonParts extends Parts {
  inbox: Inbox
  intake: Intake
  waits: WaitClock
  sending: Sending
  postDelivery: PostDelivery
  campaigns: CampaignSchedule
  alerts: Alerts
  daemonFile: DaemonFile
  supervisor: Supervisor
  upkeep: Upkeep
  clockSkewMs: () => number | null
  /** watch checks the conditions and the host until it is disposed, even while the loop hangs. */
  watch: (options: RunOptions) => Disposable
}

export interface RunOptions {
  /**
   * Takes and delivers the present files, then returns. It waits for files that are still being written, up to
   * `incompleteAfterMs` from the start.
   */
  once: boolean
  /** Starts nothing new; running work may finish until `abort`. */
  stop: AbortSignal
  /** Ends all running work. */
  abort: AbortSignal
}

/** The time between two checks for decisions of other processes, which take effect within 2 s. */
const POLL_MS = SECOND
/** The shortest time between two rounds, because many files and attempts send thousands of wake signals. */
const ROUND_GAP_MS = 5
/** `run --once` gives up after errors for this time: it has then tried again and failed again. */
const ONCE_FAILING_MS = 2 * SECOND
const LOOK_GIVEN_UP_MS = 2 * SECOND
/** The start waits this long for the events of the folder, because its disk may never answer. */
const WATCH_PATIENCE_MS = 2 * SECOND
const LEAST_SKEW_MS = 1.5 * SECOND
const HEARTBEAT_MS = 30 * SECOND

export class Daemon {
  readonly #parts: DaemonParts
  readonly #wakeSignal: WakeSignal
  /** Aborted when the database is lost, because no further work could be recorded. */
  readonly #halt = new AbortController()
  #lost: FeedsyncError | null = null
  readonly #taking: Record<Lane, Set<Promise<void>>> = { small: new Set(), large: new Set() }
  readonly #pause: FailurePause
  /** Monotonic ms. */
  #roundStartedAt: number
  #stage: Pulse['stage'] = 'starting'
  /** What a stopping daemon waits for, in words. */
  #waitsFor = 'its start'

  constructor(parts: DaemonParts) {
    this.#parts = parts
    this.#wakeSignal = new WakeSignal(parts.clock)
    this.#pause = new FailurePause(parts)
    this.#roundStartedAt = parts.clock.monotonic()
  }

  /**
   * run runs until `stop`, or with `once` until nothing more can be done now, then drains. Returns the error of a lost
   * database, or null.
   */
  async run(asked: RunOptions): Promise<FeedsyncError | null> {
    const { signal } = this.#halt
    const stop = AbortSignal.any([asked.stop, signal])
    const options = { once: asked.once, stop, abort: AbortSignal.any([asked.abort, signal]) }
    const { alerts, clock, campaigns, supervisor } = this.#parts
    options.stop.addEventListener('abort', () => this.#wakeSignal.raise())
    await unlessAborted(this.#start(options.once), options.stop)
    using _watch = this.#parts.watch(options)
    const givesUpAt = clock.monotonic() + this.#parts.config.inbox.incompleteAfterMs
    this.#stage = 'running'
    if (!options.once) supervisor.ready(() => this.pulse())
    while (!options.stop.aborted) {
      this.#roundStartedAt = clock.monotonic()
      this.#round(options)
      if (options.stop.aborted) break
      alerts.look(options.abort)
      if (!options.once) campaigns.start(options, () => this.#wakeSignal.raise())
      const isLate = clock.monotonic() > givesUpAt
      if (options.once && this.#pause.pauseOnError(() => this.#isDone(isLate))) break
      const ms = this.#pause.pauseOnError(() => this.#msToNext()) ?? this.#pause.remainingMs()
      await this.#wakeSignal.wait(ms)
      const rest = this.#roundStartedAt + ROUND_GAP_MS - clock.monotonic()
      if (rest > 0) await clock.sleep(rest, options.stop)
    }
    if (options.once) await campaigns.once(options)
    await this.#finish(options, asked.abort)
    return this.#lost
  }

  async #finish(options: RunOptions, abort: AbortSignal): Promise<void> {
    const { alerts, intake, sending, log, campaigns, supervisor, upkeep } = this.#parts
    this.#stage = 'stopping'
    const told = options.once ? null : supervisor.stopping()
    log.info({ event: 'daemon.stopping', running: sending.running.length }, 'stopping')
    // Giving up a listing loses nothing, and the disk may never answer.
    await this.#waitFor('the folder', this.#patiently(intake.looking, LOOK_GIVEN_UP_MS))
    await this.#waitFor('old history', upkeep.pruning)
    const { small, large } = this.#taking
    await this.#waitFor('feeds', ...small, ...large, ...sending.running)
    await this.#waitFor('files that are moved', this.#parts.postDelivery.finish())
    await this.#waitFor('campaigns', ...campaigns.running)
    this.#report()
    // Send the alert of a lost database now, because perhaps nobody starts feedsyncd again.
    const flush = options.once || this.#lost !== null
    await this.#waitFor('alerts', alerts.finish({ flush, signal: abort }))
    await this.#waitFor('systemd', told)
    log.info({ event: 'daemon.stopped' }, 'daemon stopped')
  }

  async #waitFor(what: string, ...work: readonly unknown[]): Promise<void> {
    this.#waitsFor = what
    await Promise.all(work)
    this.#waitsFor = 'its threads'
  }

  stuck(): void {
    this.#parts.conditions.set('stop-stuck', {
      message: `feedsyncd had to end and still waited for ${this.#waitsFor}: it is ended by force`,
      hint: 'nothing is lost: the next start continues from the history',
    })
  }

  /** pulse returns the health of the loop for the supervisor and the web endpoint. */
  pulse(): Pulse {
    return {
      stage: this.#stage,
      sinceRoundMs: this.#parts.clock.monotonic() - this.#roundStartedAt,
    }
  }

  async #start(once: boolean): Promise<void> {
    const { inbox, intake, log } = this.#parts
    const hint = () => {
      intake.hint()
      this.#wakeSignal.raise()
    }
    if (!once) await this.#patiently(inbox.watch(hint), WATCH_PATIENCE_MS)
    this.#report()
    log.info(
      { event: 'daemon.started', ...inbox.watchMode, inbox: inbox.absolute('.') },
      'daemon started',
    )
  }

  /** #patiently waits for work, but at most `ms`: a disk may never answer. */
  async #patiently(work: Promise<unknown> | null, ms: number): Promise<void> {
    const over = new AbortController()
    try {
      await Promise.race([work, this.#parts.clock.sleep(ms, over.signal)])
    } finally {
      over.abort()
    }
  }

  #round(options: RunOptions): void {
    const { intake, upkeep } = this.#parts
    try {
      if (this.#isLost() || this.#pause.remainingMs() > 0) return
      intake.look((error) => {
        // A look that was given up at the stop has no listing thread any more.
        if (error !== undefined && this.#stage === 'running') this.#paused(error)
        this.#wakeSignal.raise()
      })
      this.#parts.sending.takeRequests()
      this.#startTaking(options)
      this.#startSending(options)
      upkeep.keepLogSmall()
      upkeep.prune(options.stop, (error) => this.#onError(error))
    } catch (error) {
      this.#paused(error)
    } finally {
      // The heartbeat goes on during a failure pause, because the daemon is alive.
      this.#report()
    }
  }

  #startTaking(options: RunOptions): void {
    for (const lane of ['small', 'large'] as const) {
      const taking = this.#taking[lane]
      while (taking.size < LANES[lane] && this.#parts.intake.hasNext(lane)) {
        const each = this.#takeAll(lane, options)
          .catch((error) => {
            if (error !== options.stop.reason) this.#onError(error)
          })
          .finally(() => {
            taking.delete(each)
            this.#wakeSignal.raise()
          })
        taking.add(each)
      }
    }
  }

  async #takeAll(lane: Lane, options: RunOptions): Promise<void> {
    const { intake } = this.#parts
    // Stopping a check loses nothing, and the check of a large file would use up the time to drain.
    while (intake.hasNext(lane) && !options.stop.aborted) {
      await intake.takeNext(lane, options.stop)
      this.#startSending(options)
    }
  }

  #startSending(options: RunOptions): void {
    if (options.stop.aborted || this.#isLost()) return
    this.#parts.waits.look()
    this.#parts.sending.start(options.abort, {
      ended: (error) => {
        if (error !== undefined) this.#onError(error)
        this.#wakeSignal.raise()
      },
      freed: () => {
        try {
          this.#startSending(options)
        } catch (error) {
          this.#onError(error)
        }
      },
    })
  }

  /** #isLost returns whether the database was lost. Ask it before new work begins. */
  #isLost(): boolean {
    if (this.#lost !== null) return true
    this.#lost = this.#parts.history.lost()
    if (this.#lost === null) return false
    const { hint, message } = this.#lost
    this.#parts.conditions.set('database-lost', { message, hint })
    this.#halt.abort()
    return true
  }

  /** #onError pauses all feeds for an error of our disk or database, but not for a bug that one feed met. */
  #onError(error: unknown): void {
    if (isRetryable(error)) this.#paused(error)
    else this.#pause.fault(error)
  }

  /** #paused begins a failure pause, during which all feeds stay in their states. */
  #paused(error: unknown): void {
    this.#pause.begin(error)
    this.#parts.intake.hint()
  }

  /** #report writes the daemon's file when something has changed, and at least every 30 s while the loop runs. */
  #report(): void {
    const { clock, clockSkewMs, daemonFile, inbox, sending } = this.#parts
    const { current } = daemonFile
    // The service's clock is known to the second only, so a smaller change of the skew is not real.
    const skewMs = clockSkewMs()
    const moved = Math.abs((skewMs ?? 0) - (current.clockSkewMs ?? 0))
    const isSame = current.clockSkewMs !== null && moved <= LEAST_SKEW_MS
    const present = {
      ...watching(inbox.watchMode),
      ...sending.health(),
      clockSkewMs: isSame ? current.clockSkewMs : skewMs,
    }
    const isNews = Object.keys(present).some((key) => {
      return present[key as keyof typeof present] !== current[key as keyof typeof present]
    })
    const now = clock.now()
    if (present.service !== current.service) daemonFile.update({ serviceSince: now })
    if (isNews || !isRecent(current.heartbeatAt, now, HEARTBEAT_MS))
      daemonFile.update({ ...present, heartbeatAt: now })
  }

  #isDone(impatient: boolean): boolean {
    const { intake, postDelivery, sending } = this.#parts
    if (intake.waiting || postDelivery.isMoving || sending.running.length > 0) return false
    if (intake.looking !== null && !(impatient && intake.isStuck)) return false
    if (this.#pause.remainingMs() > 0) return this.#pause.failingForMs() > ONCE_FAILING_MS
    return !sending.hasDue && (impatient || !intake.isUnsettled)
  }

  #msToNext(): number {
    const { clock, history, intake } = this.#parts
    const now = clock.monotonic()
    const pause = this.#pause.remainingMs()
    if (pause > 0) return pause
    const due = history.nextDueAt(clock.now())
    const next = Math.min(
      POLL_MS,
      intake.nextAt() - now,
      due === null ? POLL_MS : due - clock.now(),
    )
    return Math.max(0, next)
  }
}

function watching(watch: WatchMode): Pick<DaemonState, 'mode' | 'modeReason'> {
  return { mode: watch.mode, modeReason: watch.mode === 'poll' ? watch.reason : null }
}
