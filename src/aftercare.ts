// What follows when a version has come to an end: a receipt for the person who dropped it, its file
// moved out of the way where the configuration asks for that, and spool bytes that nobody needs.
// None of it can change what happened; what fails here is said, and tried at the next occasion.

import type { Position } from './feed/port.ts'
import type { Ledger } from './history/ledger.ts'
import type { History, State, Version } from './history/port.ts'
import type { Disposed, Disposition, Dispositions, Listing, Sighting, Spool } from './inbox/port.ts'
import { type Clock, isoTime } from './lib/clock.ts'
import { isDue } from './lib/due.ts'
import type { Log } from './lib/log.ts'

export interface AftercareParts {
  clock: Clock
  log: Log
  history: History
  ledger: Ledger
  spool: Spool
  dispositions: Dispositions
  settings: {
    afterUpload: 'keep' | 'archive' | 'delete'
    afterReject: 'keep' | 'quarantine'
    receipts: boolean
    incompleteAfterMs: number
    /** Uploaded versions of a feed whose bytes stay in the spool, for `restore`. */
    keepVersions: number
  }
}

/** States that are told to the person who dropped the file. */
const RECEIPTED: readonly State[] = ['uploaded', 'rejected', 'held', 'failed']
/** Name of the note that says which version is owed a receipt. */
const RECEIPT = 'receipt owed '
/** States whose bytes will never be sent again. */
const SPENT: readonly State[] = ['superseded', 'rejected', 'discarded']

/** Versions of a feed among which half moved bytes are looked for. */
const PAST_VERSIONS = 100

type Place = Pick<Position, 'line' | 'column'>

export class Aftercare {
  readonly #parts: AftercareParts

  constructor(parts: AftercareParts) {
    this.#parts = parts
  }

  /** After a version came to a state of rest. Never throws: its state is right without it. */
  async of(version: Version, position: Place | null): Promise<void> {
    try {
      await this.#writeReceipt(version, position)
      if (version.spool !== null || version.state === 'uploaded')
        await this.#trimSpool(version.feed)
    } catch (error) {
      this.#parts.log.error({ err: error, id: version.id }, 'aftercare failed')
    }
  }

  /** Within the transaction of its new state: a crash before the receipt is there must not forget it. */
  owe({ id, state }: Version): void {
    const { history, settings } = this.#parts
    if (settings.receipts && RECEIPTED.includes(state)) history.setNote(RECEIPT + id, '')
  }

  /** After a crash: receipts that were not written any more. Those of a version that went on are of no use. */
  async recover(): Promise<void> {
    const { history } = this.#parts
    for (const note of history.notes(RECEIPT)) {
      const version = history.version(Number(note.slice(RECEIPT.length)))
      if (version !== null) await this.of(version, positionIn(version.reason))
      await history.commit(() => history.setNote(note, null), 'soon')
    }
  }

  /** Files of a listing whose story is over are moved or deleted, where the configuration says so. */
  async tidy(listing: Listing): Promise<void> {
    const { dispositions, settings } = this.#parts
    const keeps = settings.afterUpload === 'keep' && settings.afterReject === 'keep'
    if (keeps && !settings.receipts) return
    await dispositions.recover(listing.temporary, (path, sha256) => this.#isPast(path, sha256))
    if (keeps) return
    for (const file of listing.files) {
      const disposition = this.#dispositionOf(file)
      if (disposition === null) continue
      this.#tell(file.path, disposition, await dispositions.dispose(disposition, file))
    }
  }

  /** Whether a rejected file that is not there may be where we put it: its story is over, then. */
  mayHaveMoved(version: Version | null): boolean {
    return version?.state === 'rejected' && this.#ofUnsent(version) === 'quarantine'
  }

  /** Bytes that this path has had before those that it was last found to have. */
  #isPast(path: string, sha256: string): boolean {
    const { history, ledger } = this.#parts
    const newest = ledger.foundAt(path)
    if (newest === null || newest.sha256 === sha256) return false
    const versions = history.list({ feed: newest.feed, all: true, limit: PAST_VERSIONS })
    return versions.some((version) => version.path === path && version.sha256 === sha256)
  }

  #dispositionOf({ path, identity }: Sighting): Disposition | null {
    const { history, ledger, settings } = this.#parts
    if (ledger.isNews(path, identity)) return null
    const version = ledger.foundAt(path)
    switch (version?.state) {
      case 'uploaded':
        return settings.afterUpload === 'keep' ? null : settings.afterUpload
      case 'superseded': {
        // Nothing of it was sent: it goes the way of the version that took its place, once that is safe.
        const isReplaced = (history.lastUploaded(version.feed)?.id ?? 0) > version.id
        return isReplaced && settings.afterUpload !== 'keep' ? settings.afterUpload : null
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
    const { incompleteAfterMs } = settings
    const endedAt = history.events(id, 1)[0]?.at ?? clock.now()
    if (!isDue(endedAt + incompleteAfterMs, clock.now(), incompleteAfterMs)) return null
    if (settings.afterReject === 'quarantine') return 'quarantine'
    return state === 'discarded' && settings.afterUpload === 'archive' ? 'archive' : null
  }

  #tell(path: string, disposition: Disposition, disposed: Disposed): void {
    const { ledger, log } = this.#parts
    if (disposed.kind === 'done') {
      ledger.disposed(path)
      log.info({ path, to: disposed.to }, `${disposition} done`)
    }
    if (disposed.kind === 'problem') log.warn({ path, ...disposed }, `${disposition} not possible`)
  }

  async #writeReceipt(version: Version, position: Place | null): Promise<void> {
    const { clock, dispositions, history, log, settings } = this.#parts
    if (!settings.receipts || !RECEIPTED.includes(version.state)) return
    const { path: file, state, reason, sha256, postings, fileUrl } = version
    const written = await dispositions.writeReceipt({
      schemaVersion: 1,
      ...{ file, state, reason, sha256, postings, fileUrl },
      line: position?.line ?? null,
      column: position?.column ?? null,
      at: isoTime(clock.now()) ?? '',
    })
    if (written.kind === 'problem') log.warn({ path: file, ...written }, 'receipt not written')
    await history.commit(() => history.setNote(RECEIPT + version.id, null), 'soon')
  }

  async #trimSpool(feed: string): Promise<void> {
    const { history, settings, spool } = this.#parts
    // The newest upload stays whatever is configured: the next version is compared with its postings.
    const keeps = Math.max(1, settings.keepVersions)
    const kept = history.spooled(feed)
    const old = kept.filter(({ state }) => state === 'uploaded').slice(keeps)
    const spent = kept.filter(({ state }) => SPENT.includes(state))
    for (const { id, spool: name } of [...old, ...spent]) {
      // At once, so that no delivery of this feed begins in between.
      history.update(id, { spool: null })
      const file = spool.fileOf(name)
      if (!history.isSpooled(file)) await spool.remove(file)
    }
  }
}

/** As the pipeline puts it into the reason of what is broken. */
function positionIn(reason: string | null): Place | null {
  const place = /^line (\d+), column (\d+): /.exec(reason ?? '')
  return place === null ? null : { line: Number(place[1]), column: Number(place[2]) }
}
