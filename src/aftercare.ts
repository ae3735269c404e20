// What follows when a version has come to an end: a receipt for the person who dropped it, its file
// moved out of the way where the configuration asks for that, and spool bytes that nobody needs.
// None of it can change what happened; what fails here is said, and tried at the next occasion.

import type { Position } from './feed/port.ts'
import type { Ledger } from './history/ledger.ts'
import type { History, State, Version } from './history/port.ts'
import type { Disposed, Disposition, Dispositions, Listing, Sighting, Spool } from './inbox/port.ts'
import { type Clock, isoTime } from './lib/clock.ts'
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
/** States whose bytes will never be sent again. */
const SPENT: readonly State[] = ['superseded', 'rejected', 'discarded']
/** Versions looked at for bytes to drop: more than can have become spent since the last time. */
const SPOOL_SLACK = 20

export class Aftercare {
  readonly #parts: AftercareParts

  constructor(parts: AftercareParts) {
    this.#parts = parts
  }

  /** After a version came to a state of rest. Never throws: its state is right without it. */
  async of(version: Version, position: Position | null): Promise<void> {
    try {
      await this.#writeReceipt(version, position)
      if (version.spool !== null || version.state === 'uploaded')
        await this.#trimSpool(version.feed)
    } catch (error) {
      this.#parts.log.error({ err: error, id: version.id }, 'aftercare failed')
    }
  }

  /** Files of a listing whose story is over are moved or deleted, where the configuration says so. */
  async tidy(listing: Listing): Promise<void> {
    const { dispositions, settings } = this.#parts
    const keeps = settings.afterUpload === 'keep' && settings.afterReject === 'keep'
    if (keeps && !settings.receipts) return
    await dispositions.recover(listing.temporary)
    if (keeps) return
    for (const file of listing.files) {
      const disposition = this.#dispositionOf(file)
      if (disposition === null) continue
      this.#tell(file.path, disposition, await dispositions.dispose(disposition, file))
    }
  }

  #dispositionOf({ path, identity }: Sighting): Disposition | null {
    const { clock, history, ledger, settings } = this.#parts
    if (ledger.isNews(path, identity)) return null
    const version = ledger.foundAt(path)
    if (version?.state === 'uploaded' && settings.afterUpload !== 'keep')
      return settings.afterUpload
    if (version?.state !== 'rejected' || settings.afterReject === 'keep') return null
    // A person may be about to correct it in place.
    const rejectedAt = history.events(version.id).at(-1)?.at ?? clock.now()
    return clock.now() - rejectedAt >= settings.incompleteAfterMs ? 'quarantine' : null
  }

  #tell(path: string, disposition: Disposition, disposed: Disposed): void {
    const { log } = this.#parts
    if (disposed.kind === 'done') log.info({ path, to: disposed.to }, `${disposition} done`)
    if (disposed.kind === 'problem') log.warn({ path, ...disposed }, `${disposition} not possible`)
  }

  async #writeReceipt(version: Version, position: Position | null): Promise<void> {
    const { clock, dispositions, log, settings } = this.#parts
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
  }

  async #trimSpool(feed: string): Promise<void> {
    const { history, settings, spool } = this.#parts
    const { keepVersions } = settings
    const limit = keepVersions + SPOOL_SLACK
    const uploaded = history.list({ feed, states: ['uploaded'], all: true, limit })
    const spent = history.list({ feed, states: SPENT, all: true, limit: SPOOL_SLACK })
    // The newest upload stays whatever is configured: the next version is compared with its postings.
    for (const { id, spool: name } of [...uploaded.slice(Math.max(1, keepVersions)), ...spent]) {
      if (name === null) continue
      history.update(id, { spool: null })
      if (!history.isSpooled(name)) await spool.remove(name)
    }
  }
}
