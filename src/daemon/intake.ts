// Owns when the folder is looked at, and queues the files that are ready to be taken (take-queue.ts). The next listing
// finds every change. A hint makes the listing come sooner, and a look at single files can find a change before the
// listing. A restart loses nothing, because the next scan finds every file that the history does not know.

import { isAbsolute } from 'node:path'
import type { Config } from '../config/config.ts'
import type { RuleFor } from '../config/feeds.ts'
import type { History } from '../history/port.ts'
import type { Inbox } from '../inbox/folder.ts'
import type { Sighting } from '../inbox/port.ts'
import type { Settler } from '../inbox/settling.ts'
import { type Clock, MINUTE } from '../lib/clock.ts'
import { NO_IDENTITY } from '../lib/files.ts'
import type { Ledger } from '../pipeline/ledger.ts'
import type { Candidate } from '../pipeline/pipeline.ts'
import type { TakeQueue } from './take-queue.ts'

interface IntakeParts {
  clock: Clock
  history: History
  inbox: Inbox
  inboxConfig: Config['inbox']
  ledger: Ledger
  takeQueue: TakeQueue
  /** restlessToRead returns the files to read although they always change (restless.ts). `now` is monotonic ms. */
  restlessToRead: (now: number) => Promise<Candidate[]>
  ruleFor: RuleFor
  /** scanFolder scans the folder and returns how long the listing took, in ms (scan-folder.ts). */
  scanFolder: () => Promise<number>
  settler: Settler
  /** withRoom returns the files whose copies fit into the spool (room.ts). */
  withRoom: (quiet: readonly Sighting[]) => Promise<Sighting[]>
}

/** Listing takes at most this share of the time, even if hints come all the time. */
const SCAN_SHARE = 0.2
const LEAST_SCAN_GAP_MS = 20
/** Longer than a listing of 100,000 files on a slow network. */
const STUCK_MS = 2 * MINUTE
/** A rescan comes after 75 to 100 % of `inbox.rescan`, so that many hosts on one share do not scan at the same time. */
const JITTER = 0.25

export class Intake {
  readonly #clock: Clock
  readonly #history: History
  readonly #inbox: Inbox
  readonly #inboxConfig: Config['inbox']
  readonly #ledger: Ledger
  readonly #takeQueue: TakeQueue
  readonly #restlessToRead: IntakeParts['restlessToRead']
  readonly #ruleFor: RuleFor
  readonly #scanFolder: IntakeParts['scanFolder']
  readonly #settler: Settler
  readonly #withRoom: IntakeParts['withRoom']
  /** Monotonic ms of the next scan; a hint makes it earlier. */
  #nextScan = 0
  /** Whether a hint came after the last scan began. */
  #isHinted = false
  /** Monotonic ms at which the last scan ended. */
  #lastScan = Number.NEGATIVE_INFINITY
  /** The look at the folder that runs now. */
  #looking: Promise<void> | null = null
  /** Monotonic ms at which the last look began. */
  #lookedAt = 0
  /** In ms. */
  #lastScanTook = 0
  /** The history's `dataVersion` in the last round; null before the first round. */
  #dataVersion: number | null = null

  constructor(parts: IntakeParts) {
    this.#clock = parts.clock
    this.#history = parts.history
    this.#inbox = parts.inbox
    this.#inboxConfig = parts.inboxConfig
    this.#ledger = parts.ledger
    this.#takeQueue = parts.takeQueue
    this.#restlessToRead = parts.restlessToRead
    this.#ruleFor = parts.ruleFor
    this.#scanFolder = parts.scanFolder
    this.#settler = parts.settler
    this.#withRoom = parts.withRoom
  }

  /** hint says that something might have changed, so the folder is listed soon. */
  hint(): void {
    this.#isHinted = true
    const gap = Math.max(LEAST_SCAN_GAP_MS, this.#lastScanTook / SCAN_SHARE)
    this.#nextScan = Math.min(this.#nextScan, this.#lastScan + gap)
  }

  /** isUnsettled returns whether files are being written or might have changed, and will be taken automatically. */
  get isUnsettled(): boolean {
    return this.#isHinted || this.#settler.hasPending
  }

  /** looking resolves when the running look at the folder has ended; null while no look runs. */
  get looking(): Promise<void> | null {
    return this.#looking
  }

  /** isStuck returns whether a look has run for too long, because the disk or network of the folder does not answer. */
  get isStuck(): boolean {
    return this.#looking !== null && this.#clock.monotonic() - this.#lookedAt > STUCK_MS
  }

  /**
   * nextAt returns the monotonic ms at which `look` has work again; infinity while a look runs, because its end wakes
   * the loop.
   */
  nextAt(): number {
    if (this.#looking !== null) return Number.POSITIVE_INFINITY
    return Math.min(this.#nextScan, this.#settler.nextAt() ?? Number.POSITIVE_INFINITY)
  }

  /**
   * look begins to list the folder, or to look at changed files, when it is time, and queues the files that are ready.
   * At each call it also queues expired files and requested files. It does not wait for the file system, which might
   * never answer. `ended` is called after the look, with the error of a failed look.
   */
  look(ended: (error?: unknown) => void): void {
    if (this.#looking === null && this.#clock.monotonic() >= this.nextAt()) {
      const over = (error?: unknown) => {
        this.#looking = null
        ended(error)
      }
      this.#lookedAt = this.#clock.monotonic()
      this.#looking = this.#lookAtFolder().then(() => over(), over)
    }
    this.#queueExpired()
    this.#queueRequests()
  }

  async #lookAtFolder(): Promise<void> {
    if (this.#clock.monotonic() >= this.#nextScan) await this.#scan()
    await this.#queueQuiet()
    for (const file of await this.#restlessToRead(this.#clock.monotonic()))
      this.#takeQueue.add(file)
  }

  async #scan(): Promise<void> {
    this.#isHinted = false
    const { rescanMs } = this.#inboxConfig
    this.#nextScan = this.#clock.monotonic() + rescanMs * (1 - JITTER * Math.random())
    this.#lastScanTook = await this.#scanFolder()
    this.#lastScan = this.#clock.monotonic()
  }

  /**
   * #queueQuiet looks again at files that might be quiet by now, without a whole scan, and queues the quiet ones. If a
   * file is gone or cannot be used, it asks for a scan.
   */
  async #queueQuiet(): Promise<void> {
    const due = this.#settler.due(this.#clock.monotonic())
    if (due.length === 0) return
    const quiet: Sighting[] = []
    for (const [path, seen] of await this.#inbox.look(due)) {
      if (seen === null || 'reason' in seen) {
        this.#settler.drop(path)
        this.hint()
      } else if (this.#settler.takeIfQuiet(seen, this.#clock.monotonic())) quiet.push(seen)
    }
    for (const { path, identity } of await this.#withRoom(quiet)) {
      this.#takeQueue.add({ path, identity, rule: this.#ruleFor(path), final: false })
    }
  }

  /** #queueExpired queues a last read of files that have been incomplete for too long. */
  #queueExpired(): void {
    const { incompleteAfterMs } = this.#inboxConfig
    for (const path of this.#history.expired(this.#clock.now(), incompleteAfterMs)) {
      // A file that came to the path later has its own identity and its own quiet period.
      const identity = this.#ledger.known.at(path)?.identity ?? NO_IDENTITY
      if (!this.#takeQueue.isPostponed({ path, identity }))
        this.#takeQueue.add({ path, identity, rule: this.#ruleFor(path), final: true })
    }
  }

  /**
   * #queueRequests queues the files that other processes ask for (`feedsyncd upload`). After each change of the history
   * by another process, it asks for a scan, because the change can be a `feedsyncd retry`.
   */
  #queueRequests(): void {
    const dataVersion = this.#history.dataVersion()
    if (dataVersion !== this.#dataVersion) {
      this.hint()
      this.#dataVersion = dataVersion
    }
    // Each round queues the open requests again, so a request whose file could not be taken is not forgotten.
    for (const { id, path, source, feed } of this.#history.openRequests()) {
      const rule = this.#ruleFor(path, feed)
      // The command read a newer configuration with another folder, so it does not mean the file in our folder.
      if (!isAbsolute(path) && this.#inbox.absolute(path) !== source) {
        const reason = `the daemon still watches ${this.#inbox.absolute('')}: restart it first`
        this.#history.answerRequest(id, { reason })
        continue
      }
      this.#takeQueue.add({ path, identity: null, rule, final: true, request: id })
    }
  }
}
