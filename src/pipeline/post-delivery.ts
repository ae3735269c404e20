// The last step of a feed's story, when its version is at rest: a receipt for the person who dropped it, its file
// archived, deleted or quarantined where the configuration says so, and copies removed that are not needed any more.
// The version's state stays right without it: what fails is logged and tried again later.

import type { FileIdentity } from '../feed/port.ts'
import type { Version } from '../history/port.ts'
import { OLDER } from '../history/reason-codes.ts'
import { SPENT } from '../history/states.ts'
import type { Dispositions } from '../inbox/dispositions.ts'
import type { Departure, Disposed, Disposition, Listing, Sighting } from '../inbox/port.ts'
import { isOlder } from '../lib/dated-name.ts'
import { isDue } from '../lib/due.ts'
import { sameBytes, sameIdentity } from '../lib/files.ts'
import type { Parts } from './parts.ts'
import { failingMs, newToken, Receipts } from './receipts.ts'

export interface PostDeliveryParts extends Parts {
  dispositions: Dispositions
}

/** Name of the note that says which file is leaving the folder, and where to. */
const DEPARTURE = 'leaving '
/** In the log. */
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

/** Files that are moved for one transaction before, and one after. */
const BATCH_SIZE = 64
const MOST_LOGGED_EACH_TIME = 5

export class PostDelivery {
  readonly #parts: PostDeliveryParts
  readonly #receipts: Receipts
  /** Files under their temporary names, as far as is known. */
  readonly #partialMoves = new Map<string, Departure>()
  /** Files that were moved since the last listing was recorded, as they were; `isAway`: they did not come back. */
  readonly #taken = new Map<string, { identity: FileIdentity; isAway: boolean }>()
  /** Monotonic ms until which a file is left where it is: putting it back is a change of the folder, and brings a listing. */
  readonly #waiting = new Map<string, number>()
  /** Why a path could not be moved, as the system's code; `logEachTime`: the log says so again each time. */
  readonly #failing = new Map<string, { code: string; logEachTime: boolean }>()
  #moving: Promise<void> | null = null
  #isStopping = false

  constructor(parts: PostDeliveryParts) {
    this.#parts = parts
    this.#receipts = new Receipts(parts)
  }

  /** 6. At rest. Never throws. */
  async cleanUp(version: Version): Promise<void> {
    try {
      await this.#receipts.write(version)
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

  /** After a crash: files that were on their way, and receipts. */
  async recover(): Promise<void> {
    const { history } = this.#parts
    for (const note of history.notes(DEPARTURE)) {
      const departure = JSON.parse(history.note(note) ?? '') as Departure
      this.#partialMoves.set(departure.token, departure)
    }
    await this.#resume()
    await this.#receipts.recover()
  }

  /**
   * Files of a listing whose story is over are moved or deleted, where the configuration says so: beside
   * everything else, so that a slow archive stops no scan. While this lasts, later listings begin nothing.
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

  /** A listing that began before may still hold it. A file that somebody else brings back has another ctime. */
  hasTaken({ path, identity }: Sighting): boolean {
    const taken = this.#taken.get(path)
    if (taken === undefined) return false
    return (taken.isAway ? sameIdentity : sameBytes)(taken.identity, identity)
  }

  /** We have it in our hands, or had it since the last listing was recorded: its absence says nothing. */
  isLeaving(path: string): boolean {
    return this.#taken.has(path) || this.#partialMoves.values().some((move) => move.path === path)
  }

  /** Resolves once nothing is moved any more, and lets nothing more begin. */
  async finish(): Promise<void> {
    this.#isStopping = true
    await this.#moving
  }

  async #moveFinished(listing: Listing): Promise<void> {
    const { clock, config, history } = this.#parts
    this.#taken.clear()
    await this.#resume()
    await this.#receipts.retry(listing)
    const { afterReject, afterUpload } = config.inbox
    if (afterUpload === 'keep' && afterReject === 'keep') return
    for (const [path, until] of this.#waiting)
      if (until <= clock.monotonic()) this.#waiting.delete(path)
    const due = listing.files.flatMap((file): Departure[] => {
      const disposition = this.#waiting.has(file.path) ? null : this.#dispositionOf(file)
      return disposition === null ? [] : [{ ...file, disposition, token: newToken() }]
    })
    for (let from = 0; from < due.length && !this.#isStopping; from += BATCH_SIZE) {
      const departures = due.slice(from, from + BATCH_SIZE)
      await history.commit(() => {
        for (const each of departures) history.setNote(DEPARTURE + each.token, JSON.stringify(each))
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

  /** Over once every file could be moved, or has left, and every receipt could be written; a whole listing tells. */
  #endFailing({ files, unknown }: Listing): void {
    if (unknown.length > 0) return
    const paths = [...files, ...this.#partialMoves.values()].map(({ path }) => path)
    const stays = new Set([...paths, ...this.#waiting.keys()])
    for (const path of this.#failing.keys()) if (!stays.has(path)) this.#failing.delete(path)
    if (this.#failing.size === 0 && this.#receipts.isComplete)
      this.#parts.conditions.clear('dispositions-failing')
  }

  /** What could not be put where it belongs, nor back, is tried again. */
  async #resume(): Promise<void> {
    const departures = [...this.#partialMoves.values()]
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
        const { identity, path, token } = departure
        const disposed = ended.get(departure)
        if (disposed?.kind === 'done') ledger.known.moved(path, identity)
        else if (disposed?.returned) ledger.known.returned(path, identity, disposed.returned)
        if (!this.#partialMoves.has(token)) history.setNote(DEPARTURE + token, null)
      }
    }
    await history.commit(record).catch((error) => {
      // What was not recorded is looked at again, as after a crash.
      for (const departure of departures) this.#partialMoves.set(departure.token, departure)
      throw error
    })
  }

  /** Whether a rejected file that is not there may be where we put it: its story is over, then. */
  mayBeQuarantined(version: Version | null): boolean {
    return version?.state === 'rejected' && this.#ofUnsent(version) === 'quarantine'
  }

  #dispositionOf({ path, identity }: Sighting): Disposition | null {
    const { config, history, ledger } = this.#parts
    if (ledger.known.isNews(path, identity)) return null
    const { afterUpload } = config.inbox
    const ofSent = afterUpload === 'keep' ? null : afterUpload
    const version = history.lastVersionAt(path)
    switch (version?.state) {
      case 'uploaded':
        return ofSent
      case 'superseded': {
        // Nothing of it was sent: it goes the way of the version that took its place, once that is safe.
        const last = history.lastUploaded(version.feed)
        const isSafe = last && (last.id > version.id || isOlder(version.feed, version, last))
        return isSafe ? ofSent : null
      }
      case 'rejected':
      case 'discarded':
        return this.#ofUnsent(version)
      default:
        return null
    }
  }

  /** What was not sent is moved, never deleted, and left for a while: a person may be about to correct it in place. */
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
    const { isPartial = false, returned, ...facts } = disposed
    const message = `files stay in the folder: ${disposition} is not possible (${disposed.code})`
    conditions.set('dispositions-failing', { message, hint: disposed.hint }, failingMs(config))
    if (isPartial) this.#partialMoves.set(token, departure)
    const known = this.#failing.get(path)
    // Thousands of files that are tried with each listing must not fill the log.
    const { logEachTime } = known ?? { logEachTime: this.#failing.size < MOST_LOGGED_EACH_TIME }
    this.#failing.set(path, { code: disposed.code, logEachTime })
    if (!wasPartial && (logEachTime || known?.code !== disposed.code))
      log.warn({ event: NOT_DONE[disposition], ...file, ...facts }, `${disposition} not possible`)
  }

  async #trimSpool(feed: string): Promise<void> {
    const { config, history, spool } = this.#parts
    // The newest upload stays whatever is configured: the next version is compared with its postings.
    const keeps = Math.max(1, config.upload.keepVersions)
    const kept = history.spooled(feed)
    const old = kept.filter(({ state }) => state === 'uploaded').slice(keeps)
    const older = kept.filter(({ reasonCode }) => reasonCode === OLDER)
    old.push(...older.toSorted((a, b) => (isOlder(feed, a, b) ? 1 : -1)).slice(keeps))
    // What was discarded can be restored as long as the same bytes in the folder are no news.
    const newest = history.newestTaken(feed)?.id
    const spent = kept.filter((each) => {
      return each.id !== newest && SPENT.includes(each.state) && !older.includes(each)
    })
    for (const { id, spool: name } of [...old, ...spent]) {
      // At once, so that no delivery of this feed begins in between.
      history.update(id, { spool: null })
      // A restored version shares the copy of the earlier one.
      const isShared = history.spooled(feed).some((other) => other.spool === name)
      if (!isShared) await spool.remove(name)
    }
  }
}
