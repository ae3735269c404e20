// Writes receipts beside the dropped files, for people who only have SFTP. The transaction that ends a version also
// records its receipt, so that a crash before the write does not lose the receipt.

import { randomBytes } from 'node:crypto'
import { isAbsolute } from 'node:path'
import type { Conditions } from '../domain/conditions.ts'
import { RECEIPTED } from '../domain/states.ts'
import type { History, OwedReceipt, Version } from '../history/port.ts'
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
 * failingMs returns how long the condition lasts without another failure. Each listing tries again and renews it; a
 * newer version can end the failure unseen. `rescanMs` is the longest time between two listings.
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
    if (!isAbsolute(each)) history.oweReceipt({ id, path: each }, newToken())
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
  /** The receipts that a crash left pending, with their tokens. */
  #pending: (OwedReceipt & { token: string })[] = []
  /** The receipts that could not be written, by version and path. */
  readonly #unwritten = new Map<string, OwedReceipt>()

  constructor(parts: ReceiptsParts) {
    this.#clock = parts.clock
    this.#conditions = parts.conditions
    this.#dispositions = parts.dispositions
    this.#history = parts.history
    this.#log = parts.log
    this.#failingMs = failingMs(parts.rescanMs)
  }

  /** isComplete is true if every receipt could be written. */
  get isComplete(): boolean {
    return this.#unwritten.size === 0
  }

  /**
   * writePending writes the pending receipts of a version; without `id` all of them. The newest version of a file
   * wins, in any order of the calls.
   */
  async writePending(id: number | null = null): Promise<void> {
    const owed = this.#history.owedReceipts(id)
    await Promise.all(owed.map((receipt) => this.#write(receipt)))
  }

  /**
   * #write writes one receipt after the others of its path. `isRepeat`: the log has the failure already, and the folder
   * was listed since. If the directory is missing then, it left with its files.
   */
  #write(owed: OwedReceipt, { isRepeat = false } = {}): Promise<void> {
    const { path } = owed
    const before = this.#lastWrite.get(path) ?? Promise.resolve()
    const written = before.catch(() => {}).then(() => this.#writeNow(owed, { isRepeat }))
    this.#lastWrite.set(path, written)
    return written.finally(() => {
      if (this.#lastWrite.get(path) === written) this.#lastWrite.delete(path)
    })
  }

  /** recover reads which receipts a crash left pending. */
  recover(): void {
    this.#pending = this.#history.owedReceipts()
  }

  /** complete writes the receipts that a crash left pending, each for the present state of its version. */
  async complete(): Promise<void> {
    for (const { token, ...owed } of [...this.#pending]) {
      this.#pending.shift()
      await this.#dispositions.discardDraft(owed.path, token)
      await this.#write(owed)
    }
  }

  /**
   * retry writes the pending receipts after a listing, also those that a command recorded, and then those that failed.
   * It stops at the first receipt that fails again, because each one costs a search of the history for a newer version.
   */
  async retry({ unknown }: Listing): Promise<void> {
    await this.writePending()
    for (const [key, owed] of [...this.#unwritten].slice(0, BATCH_SIZE)) {
      // A directory that could not be listed can come back.
      const isAway = unknown.some((prefix) => owed.path.startsWith(prefix))
      this.#unwritten.delete(key)
      if (isAway) this.#unwritten.set(key, owed)
      else await this.#write(owed, { isRepeat: true })
      if (!isAway && this.#unwritten.has(key)) return
    }
  }

  async #writeNow(owed: OwedReceipt, { isRepeat }: { isRepeat: boolean }): Promise<void> {
    const history = this.#history
    const token = history.receiptToken(owed)
    // Another call has written it meanwhile.
    if (token === null && !isRepeat) return
    // The version can get another state during the write; its receipt is then still owed.
    const settle = () => history.settleReceipt(owed, token)
    // The version might have changed during the write of another receipt at this path.
    const { id, path: file } = owed
    const version = history.version(id)
    if (version === null || !isToldAt(file, version, history)) return history.commit(settle, 'soon')
    const { state, reason, reasonCode, line, column } = version
    const { sha256, postings, fileUrl } = version
    const receipt: Receipt = {
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
      at: isoTime(this.#clock.now()) ?? '',
    }
    const written = await this.#dispositions.writeReceipt(receipt, token ?? newToken())
    const isMissing = written.kind === 'problem' && isDirectoryMissing(written.code)
    if (written.kind === 'problem' && !isMissing) {
      const facts = { id, feed: version.feed, path: file, ...written }
      if (!isRepeat) this.#log.warn({ event: 'file.no-receipt', ...facts }, 'receipt not written')
      const message = `receipts cannot be written (${written.code})`
      const { hint } = written
      this.#conditions.set('dispositions-failing', { message, hint }, this.#failingMs)
    }
    if (written.kind === 'problem' && !(isMissing && isRepeat))
      this.#unwritten.set(`${id} ${file}`, owed)
    await history.commit(settle, 'soon')
  }
}

/**
 * isToldAt returns whether the receipt at a path is about this version: it has ended, and no later version of the path
 * has. A version that another one replaced, or that a person discarded, is told only while the file there is its file.
 */
function isToldAt(path: string, { id, state }: Version, history: History): boolean {
  if (!RECEIPTED.includes(state) || history.hasNewerAt({ id, path }, RECEIPTED)) return false
  const isReplaced = state === 'superseded' || state === 'discarded'
  return !isReplaced || history.lastVersionAt(path)?.id === id
}

/** newToken returns 12 random hexadecimal digits. */
export function newToken(): string {
  return randomBytes(6).toString('hex')
}
