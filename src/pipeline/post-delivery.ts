// What follows when a version has come to an end: a receipt for the person who dropped it, its file
// moved out of the way where the configuration asks for that, and spool bytes that nobody needs.
// None of it can change what happened; what fails here is said, and tried at the next occasion.

import { randomBytes } from 'node:crypto'
import { isAbsolute } from 'node:path'
import type { Settings } from '../config/config.ts'
import type { Ledger } from '../history/ledger.ts'
import type { History, Version } from '../history/port.ts'
import { RECEIPTED, SPENT } from '../history/states.ts'
import type {
  Departure,
  Disposed,
  Disposition,
  Dispositions,
  Listing,
  Receipt,
  Sighting,
  Spool,
} from '../inbox/port.ts'
import { type Clock, isoTime, MINUTE } from '../lib/clock.ts'
import type { Conditions } from '../lib/conditions.ts'
import { isDue } from '../lib/due.ts'
import type { Log } from '../lib/log.ts'

export interface PostDeliveryParts {
  clock: Clock
  conditions: Pick<Conditions, 'set' | 'clear'>
  log: Log
  history: History
  ledger: Ledger
  spool: Spool
  dispositions: Dispositions
  /** `upload.keepVersions` uploaded versions of a feed stay in the spool, for `restore`. */
  settings: Settings<'inbox' | 'upload'>
}

/** Name of the note that says which version is owed a receipt. */
const RECEIPT = 'receipt owed '

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
const AT_ONCE = 64
/** What fails is tried again with a later listing: nobody sees its end where the configuration changes. */
const FAILING_MS = 10 * MINUTE

export class PostDelivery {
  readonly #parts: PostDeliveryParts
  /** Files under their temporary names, as far as is known. */
  readonly #half = new Map<string, Departure>()
  #moving: Promise<void> | null = null
  #isOver = false

  constructor(parts: PostDeliveryParts) {
    this.#parts = parts
  }

  /** After a version came to a state of rest. Never throws: its state is right without it. */
  async cleanUp(version: Version): Promise<void> {
    try {
      await this.#writeReceipt(version)
      if (version.spool !== null || version.state === 'uploaded')
        await this.#trimSpool(version.feed)
    } catch (error) {
      this.#parts.log.error(
        { event: 'file.cleanup-failed', err: error, id: version.id, feed: version.feed },
        'a file could not be cleaned up after its delivery',
      )
    }
  }

  /** Within the transaction of its new state: a crash before the receipt is there must not forget it. */
  owe({ id, path, state }: Version): void {
    const { history, settings } = this.#parts
    if (!settings.current.inbox.receipts || !RECEIPTED.includes(state) || !isFileOfFolder(path))
      return
    history.setNote(RECEIPT + id, newToken())
  }

  /** After a crash: files that were on their way, and receipts. Those of a version that went on are of no use. */
  async recover(): Promise<void> {
    const { dispositions, history } = this.#parts
    for (const note of history.notes(DEPARTURE)) {
      const departure = JSON.parse(history.note(note) ?? '') as Departure
      this.#half.set(departure.token, departure)
    }
    await this.#resume()
    for (const note of history.notes(RECEIPT)) {
      const version = history.version(Number(note.slice(RECEIPT.length)))
      if (version !== null) {
        await dispositions.discardDraft(version.path, history.note(note) ?? '')
        await this.cleanUp(version)
      }
      await history.commit(() => history.setNote(note, null), 'soon')
    }
  }

  /**
   * Files of a listing whose story is over are moved or deleted, where the configuration says so: beside
   * everything else, so that a slow archive stops no scan. While this lasts, later listings begin nothing.
   */
  moveFinished(listing: Listing): void {
    this.#moving ??= this.#moveFinished(listing)
      .catch((error) =>
        this.#parts.log.error(
          { event: 'file.cleanup-failed', err: error },
          'a file could not be cleaned up after its delivery',
        ),
      )
      .finally(() => {
        this.#moving = null
      })
  }

  get isMoving(): boolean {
    return this.#moving !== null
  }

  /** Resolves once nothing is moved any more, and lets nothing more begin. */
  async finish(): Promise<void> {
    this.#isOver = true
    await this.#moving
  }

  async #moveFinished(listing: Listing): Promise<void> {
    const { dispositions, history, settings } = this.#parts
    await this.#resume()
    if (
      settings.current.inbox.afterUpload === 'keep' &&
      settings.current.inbox.afterReject === 'keep'
    )
      return
    const due = listing.files.flatMap((file): Departure[] => {
      const disposition = this.#dispositionOf(file)
      return disposition === null ? [] : [{ ...file, disposition, token: newToken() }]
    })
    for (let from = 0; from < due.length && !this.#isOver; from += AT_ONCE) {
      const departures = due.slice(from, from + AT_ONCE)
      await history.commit(() => {
        for (const each of departures) history.setNote(DEPARTURE + each.token, JSON.stringify(each))
      })
      const ended = new Map<Departure, Disposed>()
      for (const departure of departures) {
        if (!this.#isOver) ended.set(departure, await dispositions.dispose(departure))
      }
      await this.#recordEnds(departures, ended)
    }
  }

  /** What could not be put where it belongs, nor back, is tried again. */
  async #resume(): Promise<void> {
    const departures = [...this.#half.values()]
    const ended = new Map<Departure, Disposed>()
    for (const departure of departures) {
      ended.set(departure, await this.#parts.dispositions.resume(departure))
    }
    await this.#recordEnds(departures, ended)
  }

  async #recordEnds(
    departures: readonly Departure[],
    ended: ReadonlyMap<Departure, Disposed>,
  ): Promise<void> {
    const { history, ledger } = this.#parts
    if (departures.length === 0) return
    for (const [departure, disposed] of ended) this.#logEnd(departure, disposed)
    await ledger.commit(() => {
      for (const departure of departures) {
        const { identity, path, token } = departure
        if (ended.get(departure)?.kind === 'done') ledger.markDisposed(path, identity)
        if (!this.#half.has(token)) history.setNote(DEPARTURE + token, null)
      }
    })
  }

  /** Whether a rejected file that is not there may be where we put it: its story is over, then. */
  mayBeQuarantined(version: Version | null): boolean {
    return version?.state === 'rejected' && this.#ofUnsent(version) === 'quarantine'
  }

  #dispositionOf({ path, identity }: Sighting): Disposition | null {
    const { history, ledger, settings } = this.#parts
    if (ledger.isNews(path, identity)) return null
    const version = ledger.lastVersionAt(path)
    switch (version?.state) {
      case 'uploaded':
        return settings.current.inbox.afterUpload === 'keep'
          ? null
          : settings.current.inbox.afterUpload
      case 'superseded': {
        // Nothing of it was sent: it goes the way of the version that took its place, once that is safe.
        const isReplaced = (history.lastUploaded(version.feed)?.id ?? 0) > version.id
        return isReplaced && settings.current.inbox.afterUpload !== 'keep'
          ? settings.current.inbox.afterUpload
          : null
      }
      case 'rejected':
      case 'discarded':
        return this.#ofUnsent(version)
      default:
        return null
    }
  }

  /** What nobody wants is put aside, and never deleted. A person may be about to correct it in place. */
  #ofUnsent({ id, state }: Version): Disposition | null {
    const { clock, history, settings } = this.#parts
    const { incompleteAfterMs } = settings.current.inbox
    const endedAt = history.events(id, 1)[0]?.at ?? clock.now()
    if (!isDue(endedAt + incompleteAfterMs, clock.now(), incompleteAfterMs)) return null
    if (settings.current.inbox.afterReject === 'quarantine') return 'quarantine'
    return state === 'discarded' && settings.current.inbox.afterUpload === 'archive'
      ? 'archive'
      : null
  }

  #logEnd(departure: Departure, disposed: Disposed): void {
    const { disposition, path, token } = departure
    const { conditions, ledger, log } = this.#parts
    const wasHalf = this.#half.delete(token)
    const { id, feed } = ledger.lastVersionAt(path) ?? {}
    const file = { id, feed, path }
    if (disposed.kind === 'done') {
      log.info({ event: DONE[disposition], ...file, to: disposed.to }, `${disposition} done`)
      conditions.clear('dispositions-failing')
    }
    if (disposed.kind !== 'problem') return
    const { isHalf = false, ...facts } = disposed
    const message = `files stay in the folder: ${disposition} is not possible (${disposed.code})`
    conditions.set('dispositions-failing', { message, hint: disposed.hint }, FAILING_MS)
    if (isHalf) this.#half.set(token, departure)
    // It is tried again and again, and said once.
    if (!wasHalf)
      log.warn({ event: NOT_DONE[disposition], ...file, ...facts }, `${disposition} not possible`)
  }

  async #writeReceipt(version: Version): Promise<void> {
    const { clock, conditions, dispositions, history, log, settings } = this.#parts
    if (!settings.current.inbox.receipts || !RECEIPTED.includes(version.state)) return
    // Nothing is written into folders that are not ours to write in.
    if (!isFileOfFolder(version.path)) return
    const note = RECEIPT + version.id
    const { path: file, state, reason, reasonCode, line, column } = version
    const { sha256, postings, fileUrl } = version
    const receipt: Receipt = {
      schemaVersion: 1,
      ...{ file, state, reason, reasonCode, line, column, sha256, postings, fileUrl },
      at: isoTime(clock.now()) ?? '',
    }
    const written = await dispositions.writeReceipt(receipt, history.note(note) ?? newToken())
    if (written.kind === 'problem') {
      log.warn(
        { event: 'file.no-receipt', id: version.id, feed: version.feed, path: file, ...written },
        'receipt not written',
      )
      const message = `receipts cannot be written (${written.code})`
      conditions.set('dispositions-failing', { message, hint: written.hint }, FAILING_MS)
    }
    await history.commit(() => history.setNote(note, null), 'soon')
  }

  async #trimSpool(feed: string): Promise<void> {
    const { history, settings, spool } = this.#parts
    // The newest upload stays whatever is configured: the next version is compared with its postings.
    const keeps = Math.max(1, settings.current.upload.keepVersions)
    const kept = history.spooled(feed)
    const old = kept.filter(({ state }) => state === 'uploaded').slice(keeps)
    const spent = kept.filter(({ state }) => SPENT.includes(state))
    for (const { id, spool: name } of [...old, ...spent]) {
      // At once, so that no delivery of this feed begins in between.
      history.update(id, { spool: null })
      // A restored version shares the copy of the earlier one.
      const isShared = history.spooled(feed).some((other) => other.spool === name)
      if (!isShared) await spool.remove(name)
    }
  }
}

/** Neither a directory nor a file that a person named elsewhere. */
function isFileOfFolder(path: string): boolean {
  return !isAbsolute(path) && !path.endsWith('/')
}

function newToken(): string {
  return randomBytes(6).toString('hex')
}
