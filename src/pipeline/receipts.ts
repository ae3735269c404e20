// Writes receipts beside the dropped files, for people who only have SFTP. The transaction that ends a version also
// records its receipt, so that a crash before the write does not lose the receipt.

import { randomBytes } from 'node:crypto'
import { isAbsolute } from 'node:path'
import type { Conditions } from '../domain/conditions.ts'
import { NOT_SENT, RECEIPTED } from '../domain/states.ts'
import type { History, PendingReceipt, Version } from '../history/port.ts'
import type { Dispositions } from '../inbox/dispositions.ts'
import type { Listing, Receipt } from '../inbox/port.ts'
import { type Clock, isoTime, MINUTE } from '../lib/clock.ts'
import { isMissing as isDirectoryMissing } from '../lib/errno.ts'
import type { Log } from '../lib/log.ts'

export interface ReceiptsParts {
  clock: Clock
  conditions: Conditions
  dispositions: Pick<Dispositions, 'discardDraft' | 'writeReceipt'>
  history: History
  log: Log
  /** The longest time between two listings. */
  rescanMs: number
}

const FAILING_MS = 10 * MINUTE
/** BATCH_SIZE is how many receipts are tried again after one listing. */
const BATCH_SIZE = 64

/**
 * failingMs returns how many ms the condition `dispositions-failing` lasts without another failure. Each listing tries
 * again and renews the condition. A newer version can end the failure without another write, so the condition also ends
 * by itself. `rescanMs` is the longest time between two listings.
 */
export function failingMs(rescanMs: number): number {
  return FAILING_MS + rescanMs
}

/**
 * markReceiptsPending records that each file of the version needs a receipt, or only the file at `path`. Call it if the
 * configuration asks for receipts, in the transaction of the version's new state, or of the file that has its bytes.
 */
export function markReceiptsPending(
  history: History,
  version: Version,
  path: string | null = null,
): void {
  const { id } = version
  if (!RECEIPTED.includes(version.state)) return
  const paths = path === null ? new Set([version.path, ...history.pathsOf(id)]) : [path]
  for (const each of paths)
    if (!isAbsolute(each)) history.addPendingReceipt({ id, path: each }, newToken())
}

export class Receipts {
  readonly #clock: Clock
  readonly #conditions: Conditions
  readonly #dispositions: ReceiptsParts['dispositions']
  readonly #history: History
  readonly #log: Log
  readonly #failingMs: number
  /** The last write at each path: the next write waits for it. */
  readonly #lastWrite = new Map<string, Promise<void>>()
  /** The receipts that a crash left pending, with the tokens of their drafts. */
  #leftByCrash: (PendingReceipt & { token: string })[] = []
  /** The receipts that could not be written, by version and path. */
  readonly #unwritten = new Map<string, PendingReceipt>()

  constructor(parts: ReceiptsParts) {
    this.#clock = parts.clock
    this.#conditions = parts.conditions
    this.#dispositions = parts.dispositions
    this.#history = parts.history
    this.#log = parts.log
    this.#failingMs = failingMs(parts.rescanMs)
  }

  /** isComplete returns whether every receipt could be written. */
  get isComplete(): boolean {
    return this.#unwritten.size === 0
  }

  /**
   * writePending writes the pending receipts of a version, or without `id` all pending receipts. Whatever the order of
   * the calls, the receipt at a path is about the newest version.
   */
  async writePending(id: number | null = null): Promise<void> {
    const pending = this.#history.pendingReceipts(id)
    await Promise.all(pending.map((receipt) => this.#write(receipt)))
  }

  /**
   * #write writes a receipt once the earlier writes at its path have ended. `isRepeat` is true after a try that failed
   * and was logged, and a listing since then. If the directory is still missing, it left with its files, so that nobody
   * needs the receipt.
   */
  #write(receipt: PendingReceipt, { isRepeat = false } = {}): Promise<void> {
    const { path } = receipt
    const before = this.#lastWrite.get(path) ?? Promise.resolve()
    const written = before.catch(() => {}).then(() => this.#writeNow(receipt, { isRepeat }))
    this.#lastWrite.set(path, written)
    return written.finally(() => {
      if (this.#lastWrite.get(path) === written) this.#lastWrite.delete(path)
    })
  }

  /** recover reads which receipts a crash left pending. */
  recover(): void {
    this.#leftByCrash = this.#history.pendingReceipts()
  }

  /** complete writes the receipts that a crash left pending, each for the current state of its version. */
  async complete(): Promise<void> {
    for (const { token, ...receipt } of [...this.#leftByCrash]) {
      this.#leftByCrash.shift()
      await this.#dispositions.discardDraft(receipt.path, token)
      await this.#write(receipt)
    }
  }

  /**
   * retry writes the pending receipts after a listing, also receipts that a command recorded, and then the receipts
   * that could not be written before. It stops at the first receipt that fails again, because each receipt costs a
   * search of the history for a newer version.
   */
  async retry({ unknown }: Listing): Promise<void> {
    await this.writePending()
    for (const [key, receipt] of [...this.#unwritten].slice(0, BATCH_SIZE)) {
      // A directory that could not be listed can come back.
      const isAway = unknown.some((prefix) => receipt.path.startsWith(prefix))
      this.#unwritten.delete(key)
      if (isAway) this.#unwritten.set(key, receipt)
      else await this.#write(receipt, { isRepeat: true })
      if (!isAway && this.#unwritten.has(key)) return
    }
  }

  async #writeNow(receipt: PendingReceipt, { isRepeat }: { isRepeat: boolean }): Promise<void> {
    const history = this.#history
    const token = history.receiptToken(receipt)
    // Another call has written this receipt meanwhile.
    if (token === null && !isRepeat) return
    // The version can get another state during the write: its receipt then stays pending.
    const settle = () => history.receiptWritten(receipt, token)
    // The version might have changed during the write of another receipt at this path.
    const { id, path: file } = receipt
    const version = history.version(id)
    if (version === null || !isToldAt(file, version, history)) return history.commit(settle, 'soon')
    const content = receiptOf(version, file, this.#clock.now())
    const written = await this.#dispositions.writeReceipt(content, token ?? newToken())
    const isMissing = written.kind === 'problem' && isDirectoryMissing(written.code)
    if (written.kind === 'problem' && !isMissing) {
      const facts = { id, feed: version.feed, path: file, ...written }
      if (!isRepeat) this.#log.warn({ event: 'file.no-receipt', ...facts }, 'receipt not written')
      const message = `receipts cannot be written (${written.code})`
      const { hint } = written
      this.#conditions.set('dispositions-failing', { message, hint }, this.#failingMs)
    }
    if (written.kind === 'problem' && !(isMissing && isRepeat))
      this.#unwritten.set(`${id} ${file}`, receipt)
    await history.commit(settle, 'soon')
  }
}

/** receiptOf returns the receipt of a version beside the file `file`, written at `now` (wall ms). */
function receiptOf(version: Version, file: string, now: number): Receipt {
  const { state, reason, reasonCode, line, column } = version
  const { sha256, postings, fileUrl } = version
  return {
    schemaVersion: 1,
    file,
    state,
    reason,
    reasonCode,
    line,
    column,
    sha256,
    postings,
    fileUrl,
    at: isoTime(now) ?? '',
  }
}

/**
 * isToldAt returns whether the receipt at a path is about this version: its state is one that receipts name
 * (`RECEIPTED`), and no later version of the path is in such a state. A version that was superseded or discarded gets a
 * receipt only while it is the last version of the path.
 */
function isToldAt(path: string, { id, state }: Version, history: History): boolean {
  if (!RECEIPTED.includes(state) || history.hasNewerAt({ id, path }, RECEIPTED)) return false
  return !NOT_SENT.includes(state) || history.lastVersionAt(path)?.id === id
}

/** newToken returns 12 random hexadecimal digits. */
export function newToken(): string {
  return randomBytes(6).toString('hex')
}
