// Archives, deletes or quarantines the files of ended versions, if the configuration says so. Each departure is
// recorded in the history before it begins, so that a crash in between loses no file.

import type { Config } from '../config/config.ts'
import type { Conditions } from '../domain/conditions.ts'
import type { Departure, Disposition } from '../domain/departure.ts'
import type { KnownPaths } from '../history/known-paths.ts'
import type { History, Version } from '../history/port.ts'
import type { Dispositions } from '../inbox/dispositions.ts'
import type { Disposed, Listing, Sighting } from '../inbox/port.ts'
import type { Clock } from '../lib/clock.ts'
import { isDue } from '../lib/due.ts'
import { type FileIdentity, isUnchanged, sameIdentity } from '../lib/files.ts'
import type { Log } from '../lib/log.ts'
import { isBefore } from './decide/same-bytes.ts'
import { failingMs, newToken } from './receipts.ts'

export interface DeparturesParts {
  clock: Clock
  conditions: Conditions
  dispositions: Pick<Dispositions, 'dispose' | 'resume'>
  history: History
  inboxConfig: Config['inbox']
  knownPaths: KnownPaths
  log: Log
}

const DONE = {
  archive: 'file.archived',
  delete: 'file.deleted',
  quarantine: 'file.quarantined',
} as const
const NOT_DONE = {
  archive: 'file.not-archived',
  delete: 'file.not-deleted',
  quarantine: 'file.not-quarantined',
} as const

/** BATCH_SIZE files are moved together: one transaction records that they leave, and another one that they left. */
const BATCH_SIZE = 64
const MOST_LOGGED_EACH_TIME = 5

export class Departures {
  readonly #clock: Clock
  readonly #conditions: Conditions
  readonly #dispositions: DeparturesParts['dispositions']
  readonly #history: History
  readonly #inboxConfig: Config['inbox']
  readonly #knownPaths: KnownPaths
  readonly #log: Log
  /** Files that are known to have their temporary names, by token. */
  readonly #partialMoves = new Map<string, Departure>()
  /**
   * Files that were moved since the last listing. `identity` is from before the move, and `isAway` is true if the file
   * did not come back.
   */
  readonly #moved = new Map<string, { identity: FileIdentity; isAway: boolean }>()
  /** Monotonic ms until which a file stays that was put back: the listing that follows must not move it again. */
  readonly #waiting = new Map<string, number>()
  /** Files that stay, because another try would end in the same way. */
  readonly #unmovable = new Map<string, FileIdentity>()
  /** The paths that could not be moved, with the system's code, and whether the log gets each failure of the path. */
  readonly #failing = new Map<string, { code: string; logEachTime: boolean }>()
  #isStopping = false

  constructor(parts: DeparturesParts) {
    this.#clock = parts.clock
    this.#conditions = parts.conditions
    this.#dispositions = parts.dispositions
    this.#history = parts.history
    this.#inboxConfig = parts.inboxConfig
    this.#knownPaths = parts.knownPaths
    this.#log = parts.log
  }

  /** recover reads which moves a crash interrupted. `resume` completes them. */
  recover(): void {
    for (const departure of this.#history.departures())
      this.#partialMoves.set(departure.token, departure)
  }

  /**
   * hasMoved returns whether we moved this file since the last listing, or a crash interrupted its move. The ctime of a
   * file that we put back does not count, because the move changed it.
   */
  hasMoved({ path, identity }: Sighting): boolean {
    const moved = this.#moved.get(path)
    if (moved === undefined)
      return this.#partialMoves
        .values()
        .some((move) => move.path === path && isUnchanged(move.identity, identity))
    return (moved.isAway ? sameIdentity : isUnchanged)(moved.identity, identity)
  }

  /**
   * isLeaving returns whether we are moving the file at a path, or moved it since the last listing, so that its absence
   * proves nothing.
   */
  isLeaving(path: string): boolean {
    return this.#moved.has(path) || this.#partialMoves.values().some((move) => move.path === path)
  }

  /** stop lets the running move end, and begins no other move. */
  stop(): void {
    this.#isStopping = true
  }

  /** moveFinished moves or deletes the files of ended versions, and records this, if the configuration says so. */
  async moveFinished(listing: Listing): Promise<void> {
    const { afterReject, afterUpload, rescanMs } = this.#inboxConfig
    if (afterUpload === 'keep' && afterReject === 'keep') return
    for (const [path, until] of this.#waiting)
      if (until <= this.#clock.monotonic()) this.#waiting.delete(path)
    const due = listing.files.flatMap((file): Departure[] => {
      const disposition = this.#waiting.has(file.path) ? null : this.#dispositionOf(file)
      if (disposition === null) return []
      const sha256 = this.#history.lastVersionAt(file.path)?.sha256 ?? null
      return [{ ...file, disposition, sha256, token: newToken() }]
    })
    for (let from = 0; from < due.length && !this.#isStopping; from += BATCH_SIZE) {
      const departures = due.slice(from, from + BATCH_SIZE)
      await this.#history.commit(() => {
        for (const each of departures) this.#history.beginDeparture(each)
      })
      const ended = new Map<Departure, Disposed>()
      for (const departure of departures) {
        if (this.#isStopping) break
        const disposed = await this.#move(departure, 'dispose')
        ended.set(departure, disposed)
        if (disposed.kind === 'problem' || (disposed.kind !== 'done' && disposed.returned))
          this.#waiting.set(departure.path, this.#clock.monotonic() + rescanMs / 2)
      }
      await this.#recordEnds(departures, ended)
    }
  }

  /** isComplete returns whether every file that was to leave the folder could be moved. */
  get isComplete(): boolean {
    return this.#failing.size === 0
  }

  /** forgetAbsent forgets the failures of files that a complete listing lacks. */
  forgetAbsent({ files }: Listing): void {
    const paths = [...files, ...this.#partialMoves.values()].map(({ path }) => path)
    const stays = new Set([...paths, ...this.#waiting.keys()])
    for (const known of [this.#failing, this.#unmovable])
      for (const path of known.keys()) if (!stays.has(path)) known.delete(path)
  }

  /**
   * resume begins the pass after a listing: it forgets which files were moved before the listing, and tries again to
   * move the files that still have their temporary names.
   */
  async resume({ unknown }: Listing): Promise<void> {
    this.#moved.clear()
    const departures = [...this.#partialMoves.values()].filter(
      ({ path }) => !unknown.some((prefix) => path.startsWith(prefix)),
    )
    const ended = new Map<Departure, Disposed>()
    for (const departure of departures) {
      ended.set(departure, await this.#move(departure, 'resume'))
    }
    await this.#recordEnds(departures, ended)
  }

  async #move(departure: Departure, how: 'dispose' | 'resume'): Promise<Disposed> {
    const { identity, path } = departure
    this.#moved.set(path, { identity, isAway: false })
    const disposed = await this.#dispositions[how](departure)
    if (disposed.kind === 'done') this.#moved.set(path, { identity, isAway: true })
    else if (disposed.kind !== 'problem' && !disposed.returned) this.#moved.delete(path)
    return disposed
  }

  async #recordEnds(
    departures: readonly Departure[],
    ended: ReadonlyMap<Departure, Disposed>,
  ): Promise<void> {
    if (departures.length === 0) return
    for (const [departure, disposed] of ended) this.#learn(departure, disposed)
    const record = () => {
      for (const departure of departures) {
        const { disposition, identity, path, token } = departure
        const disposed = ended.get(departure)
        if (disposed?.kind === 'done') this.#knownPaths.moved(path, identity, disposition)
        else if (disposed?.returned) this.#knownPaths.returned(path, identity, disposed.returned)
        if (!this.#partialMoves.has(token)) this.#history.endDeparture(token)
      }
    }
    await this.#history.commit(record).catch((error) => {
      // `resume` tries again after the next listing, as after a crash.
      for (const departure of departures) this.#partialMoves.set(departure.token, departure)
      throw error
    })
  }

  /** mightBeInQuarantine returns whether the missing file of this version might be a file that we quarantined. */
  mightBeInQuarantine(version: Version | null): boolean {
    return version?.state === 'rejected' && this.#ofUnsent(version) === 'quarantine'
  }

  #dispositionOf({ path, identity }: Sighting): Disposition | null {
    const history = this.#history
    if (this.#knownPaths.isNews(path, identity)) return null
    const unmovable = this.#unmovable.get(path)
    if (unmovable !== undefined && isUnchanged(unmovable, identity)) return null
    const { afterUpload } = this.#inboxConfig
    const ofSent = afterUpload === 'keep' ? null : afterUpload
    const version = history.lastVersionAt(path)
    switch (version?.state) {
      case 'uploaded':
        return ofSent
      case 'superseded': {
        // The file leaves like an uploaded file once a newer version of its feed is uploaded.
        const last = history.lastUploaded(version.feed)
        const isSafe = last && (last.id > version.id || isBefore(version.date, last.date))
        return isSafe ? ofSent : null
      }
      case 'rejected':
      case 'discarded':
        return this.#ofUnsent(version)
      case 'settling':
      case 'incomplete':
      case 'checking':
      case 'held':
      case 'queued':
      case 'uploading':
      case 'failed':
      case 'gone':
      case undefined:
        return null
    }
  }

  /**
   * #ofUnsent returns what becomes of the file of a version that was not sent. The file is never deleted, and stays for
   * `inbox.incompleteAfter`: a person might be correcting it in place.
   */
  #ofUnsent({ id, state }: Version): Disposition | null {
    const { afterReject, afterUpload, incompleteAfterMs } = this.#inboxConfig
    const now = this.#clock.now()
    const endedAt = this.#history.events(id, 1)[0]?.at ?? now
    if (!isDue(endedAt + incompleteAfterMs, now, incompleteAfterMs)) return null
    if (afterReject === 'quarantine') return 'quarantine'
    return state === 'discarded' && afterUpload === 'archive' ? 'archive' : null
  }

  /** #learn logs how a departure ended. After a failure, it remembers the path and sets `dispositions-failing`. */
  #learn(departure: Departure, disposed: Disposed): void {
    const { disposition, path, token } = departure
    const wasPartial = this.#partialMoves.delete(token)
    const { id, feed } = this.#history.lastVersionAt(path) ?? {}
    const file = { id, feed, path }
    if (disposed.kind === 'done') {
      const { to } = disposed
      this.#log.info({ event: DONE[disposition], ...file, to }, `${disposition} done`)
      this.#failing.delete(path)
    }
    if (disposed.kind !== 'problem') return
    const { isFinal = false, isPartial = false, returned, ...facts } = disposed
    if (isFinal) this.#unmovable.set(path, departure.identity)
    const message = `files stay in the folder: ${disposition} is not possible (${disposed.code})`
    const { hint } = disposed
    const lastsMs = failingMs(this.#inboxConfig.rescanMs)
    this.#conditions.set('dispositions-failing', { message, hint }, lastsMs)
    if (isPartial) this.#partialMoves.set(token, departure)
    const known = this.#failing.get(path)
    // Thousands of files that fail at each listing must not fill the log.
    const { logEachTime } = known ?? { logEachTime: this.#failing.size < MOST_LOGGED_EACH_TIME }
    this.#failing.set(path, { code: disposed.code, logEachTime })
    if (!wasPartial && (logEachTime || known?.code !== disposed.code))
      this.#log.warn(
        { event: NOT_DONE[disposition], ...file, ...facts },
        `${disposition} not possible`,
      )
  }
}
