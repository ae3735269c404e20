// Owns the files that wait to be taken or are being taken. Small files have a lane of their own, and the files of one
// feed are taken in order. Nothing here is kept over a restart: the next listing finds the files again.

import { ConditionError, stateCondition } from '../domain/conditions.ts'
import { estimatedBytes } from '../domain/packing.ts'
import type { Lane } from '../feed/port.ts'
import type { History } from '../history/port.ts'
import type { Sighting } from '../inbox/port.ts'
import type { SkippedPaths } from '../inbox/skipped-paths.ts'
import type { Clock } from '../lib/clock.ts'
import { EXIT, isRetryable } from '../lib/errors.ts'
import { type FileIdentity, sameIdentity } from '../lib/files.ts'
import { faultReason } from '../pipeline/decide/sending.ts'
import type { Candidate, Pipeline, Taken } from '../pipeline/pipeline.ts'
import { LaneQueue } from './lane-queue.ts'

interface TakeQueueParts {
  clock: Clock
  history: History
  /** lookAgain is called when a file has changed since it was listed. */
  lookAgain: () => void
  pipeline: Pipeline
  /** The longest time between two listings, in ms. */
  rescanMs: number
  skipped: SkippedPaths
}

interface TakingNews {
  /** taken is called after each file that was taken. */
  taken: () => void
  /** ended is called when the files of a lane have ended, with the error that ended them. */
  ended: (error?: unknown) => void
}

/** AskedFile is a file to take. `request` is the request of another process, if there is one. */
type AskedFile = Candidate & { request?: number }

interface QueuedFile extends AskedFile {
  lane: Lane
  /** The feed. The files of one feed are taken in order. */
  group: string
}

/** How many files of a lane are taken at the same time: one is read while others wait for the disk. */
const AT_ONCE: Readonly<Record<Lane, number>> = { small: 32, large: 1 }

/** A file of up to this many bytes is checked in about a tenth of a second. */
const SMALL_FILE = 8 * 2 ** 20

export class TakeQueue {
  readonly #clock: Clock
  readonly #history: History
  readonly #lookAgain: () => void
  readonly #pipeline: Pipeline
  readonly #rescanMs: number
  readonly #skipped: SkippedPaths
  readonly #queue = new LaneQueue<QueuedFile>()
  /** The work that takes files now, in each lane. */
  readonly #taking: Record<Lane, Set<Promise<void>>> = { small: new Set(), large: new Set() }
  /**
   * The identity, by path, of each file that is queued or being taken; null if another process asked for the file. A
   * listing does not add these paths again.
   */
  readonly #busy = new Map<string, FileIdentity | null>()
  /** The busy paths whose files have changed after they were queued. */
  readonly #changedWhileBusy = new Set<string>()
  /** The monotonic ms, by path, before which an unreadable file is not read again, even if the folder changes. */
  readonly #postponedUntil = new Map<string, number>()

  constructor(parts: TakeQueueParts) {
    this.#clock = parts.clock
    this.#history = parts.history
    this.#lookAgain = parts.lookAgain
    this.#pipeline = parts.pipeline
    this.#rescanMs = parts.rescanMs
    this.#skipped = parts.skipped
  }

  /** isEmpty is true when no file waits to be taken and none is being taken. */
  get isEmpty(): boolean {
    return this.#queue.isEmpty
  }

  /** running has a promise for each file that is taken now. The promise resolves when its lane has no more files. */
  get running(): readonly Promise<void>[] {
    return [...this.#taking.small, ...this.#taking.large]
  }

  /** add queues a file, unless its path is busy. */
  add(file: AskedFile): void {
    if (this.#busy.has(file.path)) return
    const { identity, path, rule } = file
    this.#busy.set(path, identity)
    const isSkipped = identity !== null && this.#skipped.has({ path, identity })
    const lane = laneOf(estimatedBytes(path, identity))
    this.#queue.add({ ...file, isSkipped, lane, group: rule.feed })
  }

  /** start begins to take the files of both lanes, at most `AT_ONCE` of a lane at the same time, until `stop`. */
  start(stop: AbortSignal, news: TakingNews): void {
    for (const lane of ['small', 'large'] as const) {
      const taking = this.#taking[lane]
      while (taking.size < AT_ONCE[lane] && this.#queue.hasNext(lane)) {
        const over = (error?: unknown) => {
          taking.delete(each)
          news.ended(error)
        }
        const each: Promise<void> = this.#takeAll(lane, stop, news.taken).then(
          () => over(),
          (error) => over(error === stop.reason ? undefined : error),
        )
        taking.add(each)
      }
    }
  }

  async #takeAll(lane: Lane, stop: AbortSignal, taken: () => void): Promise<void> {
    // Stopping a check loses nothing, and the check of a large file would use up the time that a stop may take.
    while (this.#queue.hasNext(lane) && !stop.aborted) {
      await this.#takeNext(lane, stop)
      taken()
    }
  }

  /**
   * #takeNext takes the next file of a lane and answers the request for the file. It skips a file that cannot be read
   * or that meets an unknown error. Throws that error, and a `ConditionError` if the copy has no room.
   */
  async #takeNext(lane: Lane, signal: AbortSignal): Promise<void> {
    const next = this.#queue.take(lane)
    if (next === undefined) return
    try {
      const taken = await this.#pipeline.take(next, signal)
      if (next.request !== undefined) await this.#answer(next.request, taken)
      if (taken.kind === 'again') this.#lookAgain()
      if (taken.kind === 'skipped') this.skip(next, taken)
      else this.#wasRead(next.path)
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
        this.skip(next, words)
      }
      throw error
    } finally {
      this.#queue.done(next)
      this.#busy.delete(next.path)
      if (this.#changedWhileBusy.delete(next.path)) this.#lookAgain()
    }
  }

  /**
   * skip records that a file cannot be read. The next regular scan reads the file again. A file without an identity is
   * not recorded.
   */
  skip(
    { path, identity }: Pick<Candidate, 'path' | 'identity'>,
    words: { reason: string; hint: string },
  ): void {
    // Another process asked for this file by its name, and gets the reason as the answer.
    if (identity === null) return
    this.#skipped.add({ path, identity }, words)
    this.#postponedUntil.set(path, this.#clock.monotonic() + this.#rescanMs / 2)
  }

  /** isPostponed returns whether the file could not be read, has not changed since, and is not read again yet. */
  isPostponed(file: Sighting): boolean {
    const until = this.#postponedUntil.get(file.path) ?? 0
    return this.#skipped.has(file) && this.#clock.monotonic() < until
  }

  #wasRead(path: string): void {
    this.#skipped.delete(path)
    this.#postponedUntil.delete(path)
  }

  /**
   * lookAgainIfBusy returns whether the file at a path is queued or being taken. If the file has changed since it was
   * queued, `lookAgain` is called once it was taken.
   */
  lookAgainIfBusy({ identity, path }: Sighting): boolean {
    const taken = this.#busy.get(path)
    if (taken === undefined) return false
    if (taken === null || !sameIdentity(taken, identity)) this.#changedWhileBusy.add(path)
    return true
  }

  async #answer(request: number, taken: Taken | { reason: string }): Promise<void> {
    const answer = 'version' in taken ? { versionId: taken.version.id } : { reason: taken.reason }
    await this.#history.commit(() => this.#history.answerRequest(request, answer))
  }
}

/** notRecorded returns reason and hint of a file that is skipped because of a fault of feedsyncd. */
export function notRecorded(error: unknown): { reason: string; hint: string } {
  const hint = 'report this with the daemon’s log; feedsyncd tries again after each listing'
  return { reason: faultReason(error).reason, hint }
}

/** laneOf returns the lane of a file. A file of unknown size gets the large lane, so that it blocks no small files. */
export function laneOf(bytes: number | null): Lane {
  return bytes !== null && bytes <= SMALL_FILE ? 'small' : 'large'
}
