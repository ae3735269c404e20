// Owns the way of files into the daemon: it lists the folder, waits until changed files are quiet, and takes them. Only
// the listing decides; hints and second looks make it faster. A restart loses nothing, because the next scan finds
// every file that the history does not know.

import { isAbsolute } from 'node:path'
import { ConditionError, stateCondition } from '../domain/conditions.ts'
import { estimatedBytes, isPacked } from '../domain/packing.ts'
import type { Inbox } from '../inbox/folder.ts'
import type { Sighting } from '../inbox/port.ts'
import type { SkippedPaths } from '../inbox/skipped-paths.ts'
import { MINUTE } from '../lib/clock.ts'
import { EXIT, isRetryable } from '../lib/errors.ts'
import type { FileIdentity } from '../lib/files.ts'
import { NO_IDENTITY, sameIdentity } from '../lib/files.ts'
import type { DaemonFile } from '../ops/daemon-file.ts'
import { faultReason } from '../pipeline/decide/sending.ts'
import type { Departures } from '../pipeline/departures.ts'
import type { Candidate, Pipeline, Taken } from '../pipeline/pipeline.ts'
import type { PostDelivery } from '../pipeline/post-delivery.ts'
import { LaneQueue } from './lane-queue.ts'
import { ignoredFiles, noteFolder, recordListing } from './record-listing.ts'
import { restlessToRead } from './restless.ts'
import { type RoomParts, withRoom } from './room.ts'

export interface IntakeParts extends RoomParts {
  daemonFile: Pick<DaemonFile, 'update'>
  inbox: Inbox
  skipped: SkippedPaths
  departures: Departures
  pipeline: Pipeline
  postDelivery: PostDelivery
}

/** Waiting is a candidate in the queue. `request` is the request of another process, if there is one. */
interface Waiting extends Candidate {
  request?: number
  lane: Lane
  /** Its feed. */
  group: string
}

/** Lane is the queue of a file. Small feeds have their own, so that they never wait for a large one. */
export type Lane = 'small' | 'large'
/** Files of each lane that are taken at the same time: one is read while others wait for the disk. */
export const LANES: Readonly<Record<Lane, number>> = { small: 32, large: 1 }

/** A file of up to this many bytes is checked in about a tenth of a second. */
const SMALL_FILE = 8 * 2 ** 20
/** Listing takes at most this share of the time, even if hints come all the time. */
const SCAN_SHARE = 0.2
const LEAST_SCAN_GAP_MS = 20
/** Longer than a listing of 100,000 files on a slow network. */
const STUCK_MS = 2 * MINUTE
/** A rescan comes after 3/4 to the whole interval, so that many hosts on one share do not scan at the same time. */
const JITTER = 0.25

export class Intake {
  readonly #parts: IntakeParts
  readonly #queue = new LaneQueue<Waiting>()
  /** The identities of files in the queue or being taken. A listing does not add these paths again. */
  readonly #busy = new Map<string, FileIdentity | null>()
  /** The busy paths whose files have changed since. */
  readonly #changedWhileBusy = new Set<string>()
  /** The monotonic ms before which an unreadable file is not read again, even if the folder changes. */
  readonly #postponedUntil = new Map<string, number>()
  /** Monotonic ms of the next scan; a hint makes it earlier. */
  #nextScan = 0
  /** Whether a hint came after the last listing. */
  #isHinted = false
  #lastScan = Number.NEGATIVE_INFINITY
  /** The look at the folder that runs now. */
  #looking: Promise<void> | null = null
  /** Monotonic ms of its beginning. */
  #lookedAt = 0
  #lastScanTook = 0
  #dataVersion: number | null = null

  constructor(parts: IntakeParts) {
    this.#parts = parts
  }

  /** hint says that something may have changed, so the folder is listed soon. */
  hint(): void {
    this.#isHinted = true
    const gap = Math.max(LEAST_SCAN_GAP_MS, this.#lastScanTook / SCAN_SHARE)
    this.#nextScan = Math.min(this.#nextScan, this.#lastScan + gap)
  }

  /** waiting returns whether files wait to be taken or are being taken. */
  get waiting(): boolean {
    return !this.#queue.isEmpty
  }

  /** isUnsettled returns whether files are being written or may have changed, and will be taken automatically. */
  get isUnsettled(): boolean {
    return this.#isHinted || this.#parts.settler.hasPending
  }

  /** looking resolves when the running look at the folder has ended; null: none runs. */
  get looking(): Promise<void> | null {
    return this.#looking
  }

  /** isStuck returns whether the running look does not end, because the disk or network of the folder does not answer. */
  get isStuck(): boolean {
    return this.#parts.clock.monotonic() - this.#lookedAt > STUCK_MS
  }

  /** nextAt returns the monotonic ms at which `look` has work again. A running look wakes the loop at its end. */
  nextAt(): number {
    if (this.#looking !== null) return Number.POSITIVE_INFINITY
    return Math.min(this.#nextScan, this.#parts.settler.nextAt() ?? Number.POSITIVE_INFINITY)
  }

  /**
   * look begins to list the folder, or to look at changed files, when it is time. It queues the files that are ready.
   * It does not wait for the file system, which may never answer. `ended` is called after the look, with its error if
   * it failed.
   */
  look(ended: (error?: unknown) => void): void {
    if (this.#looking === null && this.#parts.clock.monotonic() >= this.nextAt()) {
      const over = (error?: unknown) => {
        this.#looking = null
        ended(error)
      }
      this.#lookedAt = this.#parts.clock.monotonic()
      this.#looking = this.#lookAtFolder().then(() => over(), over)
    }
    this.#queueExpired()
    this.#queueRequests()
  }

  async #lookAtFolder(): Promise<void> {
    if (this.#parts.clock.monotonic() >= this.#nextScan) await this.#scan()
    await this.#lookAtPending()
    for (const file of await restlessToRead(this.#parts)) this.#enqueue(file)
  }

  hasNext(lane: Lane): boolean {
    return this.#queue.hasNext(lane)
  }

  /** takeNext takes the next file of a lane and resolves when that has ended. */
  async takeNext(lane: Lane, signal: AbortSignal): Promise<void> {
    const next = this.#queue.take(lane)
    if (next === undefined) return
    try {
      const taken = await this.#parts.pipeline.take(next, signal)
      if (next.request !== undefined) await this.#answer(next.request, taken)
      if (taken.kind === 'again') this.hint()
      if (taken.kind === 'skipped') this.#skip(next, taken)
      else this.#parts.skipped.delete(next.path)
      if (taken.kind === 'no-room') {
        throw new ConditionError(stateCondition(taken.code), taken.reason, {
          hint: `${taken.hint}; feedsyncd tries again automatically`,
          exitCode: EXIT.temporary,
        })
      }
    } catch (error) {
      // Answer the person who asked, because another try would fail in the same way.
      if (!signal.aborted && !isRetryable(error)) {
        const words = notRecorded(error)
        if (next.request !== undefined) await this.#answer(next.request, { reason: words.reason })
        this.#skip(next, words)
      }
      throw error
    } finally {
      this.#queue.done(next)
      this.#busy.delete(next.path)
      if (this.#changedWhileBusy.delete(next.path)) this.hint()
    }
  }

  async #scan(): Promise<void> {
    const { checkerFor, clock, config, daemonFile, inbox } = this.#parts
    const { ledger, postDelivery, settler, skipped } = this.#parts
    const started = clock.monotonic()
    this.#isHinted = false
    this.#nextScan = started + config.inbox.rescanMs * (1 - JITTER * Math.random())
    const listing = await inbox.list((path) => ledger.known.at(path))
    noteFolder(listing, this.#parts.conditions)
    skipped.listed(listing)
    // The quiet period of a file starts when it is first seen, not when that is recorded.
    const seenAt = clock.monotonic()
    const news = await recordListing(listing, this.#parts, {
      isBusy: (file) => this.#isBusy(file),
      isSkipped: (file) => skipped.has(file),
      skip: (file, error) => this.#skip(file, notRecorded(error)),
    })
    settler.observeAll(news, seenAt)
    // A thread needs 70 ms to start, so start it during the quiet period.
    for (const { identity, path } of news)
      checkerFor(estimatedBytes(path, identity)).announce(isPacked(path) ? 0 : identity.size)
    if (listing.folder.kind === 'ready')
      daemonFile.update({
        lastScanAt: clock.now(),
        ...ignoredFiles(listing, clock.now() - config.inbox.incompleteAfterMs),
      })
    this.#lastScan = clock.monotonic()
    this.#lastScanTook = seenAt - started
    postDelivery.listed(listing)
  }

  /** #skip records that a file cannot be read. It is read again after the next regular scan. */
  #skip(
    { path, identity }: Pick<Waiting, 'path' | 'identity'>,
    words: { reason: string; hint: string },
  ): void {
    // The person who named a file gets the reason as the answer.
    if (identity === null) return
    const { clock, config, skipped } = this.#parts
    skipped.add({ path, identity }, words)
    this.#postponedUntil.set(path, clock.monotonic() + config.inbox.rescanMs / 2)
  }

  #isPostponed(file: Sighting): boolean {
    if (!this.#parts.skipped.has(file)) this.#postponedUntil.delete(file.path)
    return this.#parts.clock.monotonic() < (this.#postponedUntil.get(file.path) ?? 0)
  }

  #isBusy(file: Sighting): boolean {
    const { path, identity } = file
    const taken = this.#busy.get(path)
    if (taken === undefined) return this.#parts.departures.hasTaken(file) || this.#isPostponed(file)
    if (taken === null || !sameIdentity(taken, identity)) this.#changedWhileBusy.add(path)
    return true
  }

  /** #lookAtPending looks again at files that may be quiet by now, without a whole scan. */
  async #lookAtPending(): Promise<void> {
    const { clock, inbox, ruleFor, settler } = this.#parts
    const due = settler.due(clock.monotonic())
    if (due.length === 0) return
    const quiet: Sighting[] = []
    for (const [path, seen] of await inbox.look(due)) {
      if (seen === null || 'reason' in seen) {
        settler.drop(path)
        this.hint()
      } else if (settler.takeIfQuiet(seen, clock.monotonic())) quiet.push(seen)
    }
    for (const { path, identity } of await withRoom(quiet, this.#parts)) {
      this.#enqueue({ path, identity, rule: ruleFor(path), final: false })
    }
  }

  /** #queueExpired queues a last read of files that have been incomplete for too long. */
  #queueExpired(): void {
    const { clock, config, history, ledger, ruleFor } = this.#parts
    const { incompleteAfterMs } = config.inbox
    for (const path of history.expired(clock.now(), incompleteAfterMs)) {
      // A file that came to the path later has its own identity and its own quiet period.
      const identity = ledger.known.at(path)?.identity ?? NO_IDENTITY
      if (!this.#isPostponed({ path, identity }))
        this.#enqueue({ path, identity, rule: ruleFor(path), final: true })
    }
  }

  /** #queueRequests does what other processes ask for: take a file (`feedsyncd upload`) or read one again (`retry`). */
  #queueRequests(): void {
    const { history, inbox, ruleFor } = this.#parts
    const changes = history.dataVersion()
    if (changes !== this.#dataVersion) {
      // A person may have asked to read a file again.
      this.hint()
      this.#dataVersion = changes
    }
    // Each round queues open requests again, so a failed one is not forgotten.
    for (const { id, path, source, feed } of history.openRequests()) {
      const rule = ruleFor(path, feed)
      // The person's configuration has another folder, and our folder may have a different file of that name.
      if (!isAbsolute(path) && inbox.absolute(path) !== source) {
        const problem = `the daemon still watches ${inbox.absolute('')}: restart it first`
        history.answerRequest(id, { problem })
        continue
      }
      this.#enqueue({ path, identity: null, rule, final: true, request: id })
    }
  }

  #enqueue(file: Candidate & { request?: number }): void {
    if (this.#busy.has(file.path)) return
    const { identity, path, rule } = file
    this.#busy.set(path, identity)
    const isSkipped = identity !== null && this.#parts.skipped.has({ path, identity })
    const lane = laneOf(estimatedBytes(path, identity))
    this.#queue.add({ ...file, isSkipped, lane, group: rule.feed })
  }

  async #answer(request: number, taken: Taken | { reason: string }): Promise<void> {
    const answer = 'version' in taken ? { versionId: taken.version.id } : { problem: taken.reason }
    const { history } = this.#parts
    await history.commit(() => history.answerRequest(request, answer))
  }
}

/** notRecorded returns why a file is skipped that met a fault of feedsyncd. */
function notRecorded(error: unknown): { reason: string; hint: string } {
  const hint = 'report this with the daemon’s log; feedsyncd tries again after each listing'
  return { reason: faultReason(error).text, hint }
}

/** laneOf returns the lane of a file. Unknown size: use the large lane so that it cannot block small files. */
export function laneOf(bytes: number | null): Lane {
  return bytes !== null && bytes <= SMALL_FILE ? 'small' : 'large'
}
