// The last step of a feed's story, after its version has ended: write a receipt for the person who dropped the file;
// archive, delete or quarantine the file if the configuration says so; remove copies that are no longer needed.
// A failure here does not change the state of the version. It is logged and tried again later.

import { OLDER } from '../domain/reason-codes.ts'
import { SPENT } from '../domain/states.ts'
import type { Version } from '../history/port.ts'
import type { Dispositions } from '../inbox/dispositions.ts'
import type { Departure, Disposed, Disposition, Listing, Sighting } from '../inbox/port.ts'
import { isDue } from '../lib/due.ts'
import type { FileIdentity } from '../lib/files.ts'
import { sameBytes, sameIdentity } from '../lib/files.ts'
import { isBefore } from './decide/same-bytes.ts'
import type { Parts } from './parts.ts'
import { failingMs, newToken, Receipts } from './receipts.ts'

export interface PostDeliveryParts extends Parts {
  dispositions: Dispositions
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

/** BATCH_SIZE is how many files are moved between one transaction before and one after. */
const BATCH_SIZE = 64
const MOST_LOGGED_EACH_TIME = 5

export class PostDelivery {
  readonly #parts: PostDeliveryParts
  readonly #receipts: Receipts
  /** Files that are known to have their temporary names, by token. */
  readonly #partialMoves = new Map<string, Departure>()
  /** Files that were moved since the last listing, with their identity before; `isAway`: the file did not come back. */
  readonly #taken = new Map<string, { identity: FileIdentity; isAway: boolean }>()
  /** Monotonic ms until which a file stays: putting it back causes a listing, which must not move it again at once. */
  readonly #waiting = new Map<string, number>()
  /** Files that stay, because another try would end in the same way. */
  readonly #unmovable = new Map<string, FileIdentity>()
  /** The system's code for each path that could not be moved. */
  readonly #failing = new Map<string, { code: string; logEachTime: boolean }>()
  #moving: Promise<void> | null = null
  #isStopping = false

  constructor(parts: PostDeliveryParts) {
    this.#parts = parts
    this.#receipts = new Receipts(parts)
  }

  /** 6. cleanUp writes the receipts of an ended version and removes unneeded copies. It never throws. */
  async cleanUp(version: Version): Promise<void> {
    try {
      await this.#receipts.writePending(version.id)
      if (version.spool !== null || version.state === 'uploaded')
        await this.#trimSpool(version.feed)
    } catch (error) {
      this.#logFailure(error, version)
    }
  }

  #logFailure(error: unknown, { id, feed }: Partial<Version> = {}): void {
    this.#parts.log.error(
      { event: 'file.cleanup-failed', err: error, id, feed },
      'a file could not be cleaned up after its delivery',
    )
  }

  /**
   * recover reads which moves and receipts a crash interrupted. The first pass after a listing completes them: the start
   * does not wait for the vendor's file system.
   */
  recover(): void {
    for (const departure of this.#parts.history.departures())
      this.#partialMoves.set(departure.token, departure)
    this.#receipts.recover()
  }

  /**
   * moveFinished moves or deletes finished files, if the configuration says so. It runs in the background, so that a
   * slow archive does not delay a scan. While it runs, a later listing starts no second pass.
   */
  moveFinished(listing: Listing): void {
    this.#moving ??= this.#moveFinished(listing)
      .then(() => this.#endFailing(listing))
      .catch((error) => this.#logFailure(error))
      .finally(() => {
        this.#moving = null
      })
  }

  get isMoving(): boolean {
    return this.#moving !== null
  }

  /** hasTaken reports whether we moved this file since the last listing. A returned file has another ctime. */
  hasTaken({ path, identity }: Sighting): boolean {
    const taken = this.#taken.get(path)
    if (taken === undefined) return false
    return (taken.isAway ? sameIdentity : sameBytes)(taken.identity, identity)
  }

  /** isLeaving is true if we are moving the file or moved it since the last listing: its absence proves nothing. */
  isLeaving(path: string): boolean {
    return this.#taken.has(path) || this.#partialMoves.values().some((move) => move.path === path)
  }

  /** finish stops new moves and resolves when the running ones have ended. */
  async finish(): Promise<void> {
    this.#isStopping = true
    await this.#moving
  }

  async #moveFinished(listing: Listing): Promise<void> {
    const { clock, config, history } = this.#parts
    this.#taken.clear()
    await this.#resume(listing)
    await this.#receipts.complete()
    await this.#receipts.retry(listing)
    const { afterReject, afterUpload } = config.inbox
    if (afterUpload === 'keep' && afterReject === 'keep') return
    for (const [path, until] of this.#waiting)
      if (until <= clock.monotonic()) this.#waiting.delete(path)
    const due = listing.files.flatMap((file): Departure[] => {
      const disposition = this.#waiting.has(file.path) ? null : this.#dispositionOf(file)
      if (disposition === null) return []
      const sha256 = history.lastVersionAt(file.path)?.sha256 ?? null
      return [{ ...file, disposition, sha256, token: newToken() }]
    })
    for (let from = 0; from < due.length && !this.#isStopping; from += BATCH_SIZE) {
      const departures = due.slice(from, from + BATCH_SIZE)
      await history.commit(() => {
        for (const each of departures) history.beginDeparture(each)
      })
      const ended = new Map<Departure, Disposed>()
      for (const departure of departures) {
        if (this.#isStopping) break
        const disposed = await this.#move(departure, 'dispose')
        ended.set(departure, disposed)
        if (disposed.kind === 'problem' || (disposed.kind !== 'done' && disposed.returned))
          this.#waiting.set(departure.path, clock.monotonic() + config.inbox.rescanMs / 2)
      }
      await this.#recordEnds(departures, ended)
    }
  }

  /** #endFailing clears the condition when a complete listing shows that no move and no receipt is left to retry. */
  #endFailing({ files, unknown }: Listing): void {
    if (unknown.length > 0) return
    const paths = [...files, ...this.#partialMoves.values()].map(({ path }) => path)
    const stays = new Set([...paths, ...this.#waiting.keys()])
    for (const known of [this.#failing, this.#unmovable])
      for (const path of known.keys()) if (!stays.has(path)) known.delete(path)
    if (this.#failing.size === 0 && this.#receipts.isComplete)
      this.#parts.conditions.clear('dispositions-failing')
  }

  /** #resume tries again to move files that still have their temporary names. */
  async #resume({ unknown }: Listing): Promise<void> {
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
    this.#taken.set(path, { identity, isAway: false })
    const disposed = await this.#parts.dispositions[how](departure)
    if (disposed.kind === 'done') this.#taken.set(path, { identity, isAway: true })
    else if (disposed.kind !== 'problem' && !disposed.returned) this.#taken.delete(path)
    return disposed
  }

  async #recordEnds(
    departures: readonly Departure[],
    ended: ReadonlyMap<Departure, Disposed>,
  ): Promise<void> {
    const { history, ledger } = this.#parts
    if (departures.length === 0) return
    for (const [departure, disposed] of ended) this.#logEnd(departure, disposed)
    const record = () => {
      for (const departure of departures) {
        const { disposition, identity, path, token } = departure
        const disposed = ended.get(departure)
        if (disposed?.kind === 'done') ledger.known.moved(path, identity, disposition)
        else if (disposed?.returned) ledger.known.returned(path, identity, disposed.returned)
        if (!this.#partialMoves.has(token)) history.endDeparture(token)
      }
    }
    await history.commit(record).catch((error) => {
      // Try again later, as after a crash.
      for (const departure of departures) this.#partialMoves.set(departure.token, departure)
      throw error
    })
  }

  /** mayBeQuarantined reports whether we may have moved this absent rejected file into the quarantine. */
  mayBeQuarantined(version: Version | null): boolean {
    return version?.state === 'rejected' && this.#ofUnsent(version) === 'quarantine'
  }

  #dispositionOf({ path, identity }: Sighting): Disposition | null {
    const { config, history, ledger } = this.#parts
    if (ledger.known.isNews(path, identity)) return null
    const unmovable = this.#unmovable.get(path)
    if (unmovable !== undefined && sameBytes(unmovable, identity)) return null
    const { afterUpload } = config.inbox
    const ofSent = afterUpload === 'keep' ? null : afterUpload
    const version = history.lastVersionAt(path)
    switch (version?.state) {
      case 'uploaded':
        return ofSent
      case 'superseded': {
        // Treat the file like the version that took its place, once that one is uploaded.
        const last = history.lastUploaded(version.feed)
        const isSafe = last && (last.id > version.id || isBefore(version.date, last.date))
        return isSafe ? ofSent : null
      }
      case 'rejected':
      case 'discarded':
        return this.#ofUnsent(version)
      default:
        return null
    }
  }

  /** #ofUnsent moves an unsent file, never deletes it, and waits first: a person may be correcting it in place. */
  #ofUnsent({ id, state }: Version): Disposition | null {
    const { clock, config, history } = this.#parts
    const { afterReject, afterUpload, incompleteAfterMs } = config.inbox
    const endedAt = history.events(id, 1)[0]?.at ?? clock.now()
    if (!isDue(endedAt + incompleteAfterMs, clock.now(), incompleteAfterMs)) return null
    if (afterReject === 'quarantine') return 'quarantine'
    return state === 'discarded' && afterUpload === 'archive' ? 'archive' : null
  }

  #logEnd(departure: Departure, disposed: Disposed): void {
    const { disposition, path, token } = departure
    const { conditions, config, history, log } = this.#parts
    const wasPartial = this.#partialMoves.delete(token)
    const { id, feed } = history.lastVersionAt(path) ?? {}
    const file = { id, feed, path }
    if (disposed.kind === 'done') {
      log.info({ event: DONE[disposition], ...file, to: disposed.to }, `${disposition} done`)
      this.#failing.delete(path)
    }
    if (disposed.kind !== 'problem') return
    const { isFinal = false, isPartial = false, returned, ...facts } = disposed
    if (isFinal) this.#unmovable.set(path, departure.identity)
    const message = `files stay in the folder: ${disposition} is not possible (${disposed.code})`
    conditions.set('dispositions-failing', { message, hint: disposed.hint }, failingMs(config))
    if (isPartial) this.#partialMoves.set(token, departure)
    const known = this.#failing.get(path)
    // Thousands of files that fail at each listing must not fill the log.
    const { logEachTime } = known ?? { logEachTime: this.#failing.size < MOST_LOGGED_EACH_TIME }
    this.#failing.set(path, { code: disposed.code, logEachTime })
    if (!wasPartial && (logEachTime || known?.code !== disposed.code))
      log.warn({ event: NOT_DONE[disposition], ...file, ...facts }, `${disposition} not possible`)
  }

  async #trimSpool(feed: string): Promise<void> {
    const { config, history, spool } = this.#parts
    // Keep at least the newest upload: the next version is compared with its postings.
    const keeps = Math.max(1, config.upload.keepVersions)
    const kept = history.spooled(feed)
    const old = kept.filter(({ state }) => state === 'uploaded').slice(keeps)
    const older = kept.filter(({ reasonCode }) => reasonCode === OLDER)
    old.push(...older.toSorted((a, b) => (isBefore(a.date, b.date) ? 1 : -1)).slice(keeps))
    // Keep the copy of the newest version: a person may restore it while the file in the folder is unchanged.
    const newest = history.newestTaken(feed)?.id
    const spent = kept.filter((each) => {
      return each.id !== newest && SPENT.includes(each.state) && !older.includes(each)
    })
    for (const { id, spool: name } of [...old, ...spent]) {
      // Update the row before the file, so that no delivery of this feed begins in between.
      history.update(id, { spool: null })
      // A restored version shares the copy of the earlier one.
      const isShared = history.spooled(feed).some((other) => other.spool === name)
      if (!isShared) await spool.remove(name)
    }
  }
}
