// The way in: the folder is listed, what changed settles, and one file after the other is taken.
// The listing is the truth; hints and second looks only make it quicker. A restart loses nothing that is kept here:
// whatever the history does not know is new at the next scan.

import { isAbsolute } from 'node:path'
import type { FileIdentity } from '../feed/port.ts'
import { NO_ROOM } from '../history/reason-codes.ts'
import type { Inbox } from '../inbox/folder.ts'
import type { Sighting } from '../inbox/port.ts'
import type { Settler } from '../inbox/settling.ts'
import type { SkippedPaths } from '../inbox/skipped-paths.ts'
import { stateCondition } from '../lib/conditions.ts'
import { EXIT, FeedsyncError, isRetryable } from '../lib/errors.ts'
import { NO_IDENTITY, sameIdentity } from '../lib/files.ts'
import { LaneQueue } from '../lib/lane-queue.ts'
import { estimatedBytes, isPacked } from '../lib/packing.ts'
import { formatBytes } from '../lib/units.ts'
import type { DaemonFile } from '../ops/daemon-file.ts'
import type { Parts } from '../pipeline/parts.ts'
import type { Candidate, Pipeline, Taken } from '../pipeline/pipeline.ts'
import type { PostDelivery } from '../pipeline/post-delivery.ts'
import { faultReason } from '../pipeline/record-outcome.ts'
import { ignoredFiles, noteFolder, recordListing } from './record-listing.ts'

export interface IntakeParts extends Parts {
  daemonFile: Pick<DaemonFile, 'update'>
  inbox: Inbox
  settler: Settler
  skipped: SkippedPaths
  pipeline: Pipeline
  postDelivery: PostDelivery
  /** Shows a person at the terminal what one feed waits for. */
  notifyOperator: (message: string, hint: string | null) => void
}

/** A candidate, and the request of another process that it answers. */
interface Waiting extends Candidate {
  request?: number
  lane: Lane
  /** Its feed. */
  group: string
}

/** A small feed does not wait for the minute that a large one takes: feeds never block each other. */
export type Lane = 'small' | 'large'
/** Files of each lane that are taken at once: one is read while others wait for the disk. */
export const LANES: Readonly<Record<Lane, number>> = { small: 32, large: 1 }

const ROOM_HINT = 'free space on the disk of state.directory; it is tried again automatically'
/** Bytes up to which a file is checked in about a tenth of a second. */
const SMALL_FILE = 8 * 2 ** 20
/** Listing takes at most this share of the time, however many hints come. */
const SCAN_SHARE = 0.2
const LEAST_SCAN_GAP_MS = 20
/** Rescans of many hosts on one share do not fall together: 3/4 of the interval to the whole of it. */
const JITTER = 0.25

export class Intake {
  readonly #parts: IntakeParts
  readonly #queue = new LaneQueue<Waiting>()
  /** Paths in the queue or being taken, as they were then: a listing does not add them again. */
  readonly #busy = new Map<string, FileIdentity | null>()
  /** Of these, what a listing found to have changed since. */
  readonly #changedWhileBusy = new Set<string>()
  /** Files that could not be read, and the monotonic ms at which they are read again: not with each change of the folder. */
  readonly #postponedUntil = new Map<string, number>()
  /** Monotonic ms; a hint moves the next one forward. */
  #nextScan = 0
  /** Since the last listing. */
  #isHinted = false
  #lastScan = Number.NEGATIVE_INFINITY
  #lastScanTook = 0
  #dataVersion: number | null = null

  constructor(parts: IntakeParts) {
    this.#parts = parts
  }

  /** Something may have changed: the folder is listed soon. */
  hint(): void {
    this.#isHinted = true
    const gap = Math.max(LEAST_SCAN_GAP_MS, this.#lastScanTook / SCAN_SHARE)
    this.#nextScan = Math.min(this.#nextScan, this.#lastScan + gap)
  }

  /** True while files wait to be taken, or are taken. */
  get waiting(): boolean {
    return !this.#queue.isEmpty
  }

  /** True while files are being written, or may have changed: they will be taken automatically. */
  get isUnsettled(): boolean {
    return this.#isHinted || this.#parts.settler.hasPending
  }

  /** Monotonic ms at which `look` has something to do. */
  nextAt(): number {
    return Math.min(this.#nextScan, this.#parts.settler.nextAt() ?? Number.POSITIVE_INFINITY)
  }

  /** Looks wherever it is time to look, and queues what is ready to be taken. */
  async look(): Promise<void> {
    if (this.#parts.clock.monotonic() >= this.#nextScan) await this.#scan()
    await this.#lookAtPending()
    this.#queueExpired()
    this.#queueRequests()
  }

  /** True while a file of the lane may be taken now. */
  hasNext(lane: Lane): boolean {
    return this.#queue.hasNext(lane)
  }

  /** Takes the next file of a lane, to its end. */
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
        throw new FeedsyncError(taken.reason, {
          condition: stateCondition(taken.code),
          hint: 'free space on the disk of state.directory, and let the daemon’s user write there; it is tried again automatically',
          exitCode: EXIT.temporary,
        })
      }
    } catch (error) {
      // Whoever asked must not wait for what would only fail again.
      if (next.request !== undefined && !signal.aborted && !isRetryable(error))
        await this.#answer(next.request, { reason: faultReason(error).text })
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
    // The first sight of a file starts its quiet period, not the moment at which that is written.
    const seenAt = clock.monotonic()
    const news = await recordListing(
      listing,
      this.#parts,
      (file) => this.#isBusy(file),
      (file) => skipped.has(file),
    )
    settler.observeAll(news, seenAt)
    // It takes 70 ms, which are within the quiet period so.
    for (const { identity, path } of news)
      checkerFor(estimatedBytes(path, identity)).announce(isPacked(path) ? 0 : identity.size)
    if (listing.folder.kind === 'ready')
      daemonFile.update({
        lastScanAt: clock.now(),
        ...ignoredFiles(listing, clock.now() - config.inbox.incompleteAfterMs),
      })
    this.#lastScan = clock.monotonic()
    this.#lastScanTook = seenAt - started
    postDelivery.moveFinished(listing)
  }

  /** It is read again after the next regular scan. */
  #skip({ path, identity }: Waiting, words: { reason: string; hint: string }): void {
    // A file that a person named is told to that person.
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
    if (taken === undefined)
      return this.#parts.postDelivery.hasTaken(file) || this.#isPostponed(file)
    if (taken === null || !sameIdentity(taken, identity)) this.#changedWhileBusy.add(path)
    return true
  }

  /** Files that may be quiet by now are looked at once more, without a whole scan. */
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
    for (const { path, identity } of await this.#withRoom(quiet)) {
      this.#enqueue({ path, identity, rule: ruleFor(path), final: false })
    }
  }

  /** What the spool has no room for goes on settling, without holding up others or filling the disk. */
  async #withRoom(quiet: readonly Sighting[]): Promise<Sighting[]> {
    const { clock, history, ledger, log, ruleFor, settler, spool, notifyOperator } = this.#parts
    if (quiet.length === 0) return []
    const free = await spool.freeBytes()
    const sizeOf = ({ identity, path }: Sighting) => estimatedBytes(path, identity)
    const fits = (file: Sighting) => sizeOf(file) <= free
    for (const file of quiet.filter((each) => !fits(each))) {
      const { path, identity } = file
      settler.putBack(file, clock.monotonic())
      // It is looked at again and again, and reported once.
      if (history.pendingVersionAt(path)?.reasonCode === NO_ROOM) continue
      const size = `${isPacked(path) ? 'unpacked about ' : ''}${formatBytes(sizeOf(file))}`
      const text = `not enough disk space for the copy: ${size}`
      const reason = { code: NO_ROOM, text, hint: ROOM_HINT }
      const rule = ruleFor(path)
      await history.commit(() => ledger.keepSettling({ path, identity, rule }, reason))
      log.error(
        {
          event: 'feed.no-room',
          path,
          feed: rule.feed,
          reason: text,
          hint: ROOM_HINT,
          freeBytes: free,
        },
        'not enough disk space for a feed',
      )
      notifyOperator(
        `copy ${path} into the spool: it has ${size}, and ${formatBytes(free)} are left`,
        ROOM_HINT,
      )
    }
    return quiet.filter(fits)
  }

  /** Files that have been incomplete for too long get a last look. */
  #queueExpired(): void {
    const { clock, config, history, ledger, ruleFor } = this.#parts
    const { incompleteAfterMs } = config.inbox
    for (const path of history.expired(clock.now(), incompleteAfterMs)) {
      // Another file that came to the path since has a quiet period of its own.
      const identity = ledger.known.at(path)?.identity ?? NO_IDENTITY
      if (!this.#isPostponed({ path, identity }))
        this.#enqueue({ path, identity, rule: ruleFor(path), final: true })
    }
  }

  /** What other processes ask for: files to take (`feedsyncd upload`), or to look at again (`retry`). */
  #queueRequests(): void {
    const { history, inbox, ruleFor } = this.#parts
    const changes = history.dataVersion()
    if (changes !== this.#dataVersion) {
      // A person may want a file to be read again.
      this.hint()
      this.#dataVersion = changes
    }
    // In each round until they are answered, whatever went wrong before.
    for (const { id, path, source, feed } of history.openRequests()) {
      const rule = ruleFor(path, feed)
      // The configuration has been changed, and our folder may have another file of that name.
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

/** Of unknown size: rather held up than in the way. */
export function laneOf(bytes: number | null): Lane {
  return bytes !== null && bytes <= SMALL_FILE ? 'small' : 'large'
}
