// The last step of a feed's story, after its version has ended: write a receipt for the person who dropped the file;
// let the file leave the folder (departures.ts); remove copies that are no longer needed. A failure here does not
// change the state of the version. It is logged and tried again later.

import type { Conditions } from '../domain/conditions.ts'
import { OLDER } from '../domain/reason-codes.ts'
import { SPENT } from '../domain/states.ts'
import type { History, Version } from '../history/port.ts'
import type { Listing } from '../inbox/port.ts'
import type { Log } from '../lib/log.ts'
import type { Spool } from '../spool/port.ts'
import { isBefore } from './decide/same-bytes.ts'
import type { Departures } from './departures.ts'
import type { Receipts } from './receipts.ts'

interface PostDeliveryParts {
  conditions: Conditions
  departures: Departures
  history: History
  /** How many uploaded versions of a feed keep their copies (`upload.keepVersions`). */
  keepVersions: number
  log: Log
  receipts: Receipts
  spool: Spool
}

export class PostDelivery {
  readonly #conditions: Conditions
  readonly #departures: Departures
  readonly #history: History
  readonly #keepVersions: number
  readonly #log: Log
  readonly #receipts: Receipts
  readonly #spool: Spool
  #moving: Promise<void> | null = null

  constructor(parts: PostDeliveryParts) {
    this.#conditions = parts.conditions
    this.#departures = parts.departures
    this.#history = parts.history
    this.#keepVersions = parts.keepVersions
    this.#log = parts.log
    this.#receipts = parts.receipts
    this.#spool = parts.spool
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
    this.#log.error(
      { event: 'file.cleanup-failed', err: error, id, feed },
      'a file could not be cleaned up after its delivery',
    )
  }

  /**
   * recover reads which moves and receipts a crash interrupted. The first pass after a listing completes them, so that
   * the start does not wait for the vendor's file system.
   */
  recover(): void {
    this.#departures.recover()
    this.#receipts.recover()
  }

  /**
   * listed begins a pass that moves finished files and writes the receipts that are still missing. The pass runs in the
   * background, so that a slow archive does not delay a scan. While a pass runs, another listing begins no second pass.
   */
  listed(listing: Listing): void {
    this.#moving ??= this.#pass(listing)
      .catch((error) => this.#logFailure(error))
      .finally(() => {
        this.#moving = null
      })
  }

  async #pass(listing: Listing): Promise<void> {
    await this.#departures.resume(listing)
    await this.#receipts.complete()
    await this.#receipts.retry(listing)
    await this.#departures.moveFinished(listing)
    // Only a complete listing shows that nothing is left to try again.
    if (listing.unknown.length > 0) return
    this.#departures.forgetAbsent(listing)
    if (this.#departures.isComplete && this.#receipts.isComplete)
      this.#conditions.clear('dispositions-failing')
  }

  get isMoving(): boolean {
    return this.#moving !== null
  }

  /** finish stops new moves and resolves when the running ones have ended. */
  async finish(): Promise<void> {
    this.#departures.stop()
    await this.#moving
  }

  /** #trimSpool removes the copies of a feed's versions that nobody needs any more. */
  async #trimSpool(feed: string): Promise<void> {
    const history = this.#history
    // Keep at least the newest upload: the next version is compared with its postings.
    const keeps = Math.max(1, this.#keepVersions)
    const spooled = history.spooled(feed)
    const uploaded = spooled.filter(({ state }) => state === 'uploaded')
    const older = spooled
      .filter(({ reasonCode }) => reasonCode === OLDER)
      .toSorted((a, b) => (isBefore(a.date, b.date) ? 1 : -1))
    // Keep the copy of the newest version, so that a person can restore it: the unchanged file is not read again.
    const newest = history.newestRead(feed)?.id
    const spent = spooled.filter((each) => {
      return each.id !== newest && SPENT.includes(each.state) && !older.includes(each)
    })
    const unneeded = [...uploaded.slice(keeps), ...older.slice(keeps), ...spent]
    for (const { id, spool: name } of unneeded) {
      // Update the row before the file, so that no delivery of this feed begins in between.
      history.update(id, { spool: null })
      // A restored version shares the copy of the earlier one.
      const isShared = history.spooled(feed).some((other) => other.spool === name)
      if (!isShared) await this.#spool.remove(name)
    }
  }
}
