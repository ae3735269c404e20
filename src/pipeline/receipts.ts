// Writes receipts beside the dropped files, for people who only have SFTP. The transaction that ends a version also
// records its receipt, so that a crash before the write does not lose the receipt.

import { randomBytes } from 'node:crypto'
import { isAbsolute } from 'node:path'
import type { Config } from '../config/config.ts'
import { RECEIPTED } from '../domain/states.ts'
import type { History, OwedReceipt, Version } from '../history/port.ts'
import type { Dispositions } from '../inbox/dispositions.ts'
import type { Listing, Receipt } from '../inbox/port.ts'
import { isoTime, MINUTE } from '../lib/clock.ts'
import { isMissing as isDirectoryMissing } from '../lib/errno.ts'
import type { Parts } from './parts.ts'

export interface ReceiptsParts
  extends Pick<Parts, 'clock' | 'conditions' | 'history' | 'log' | 'config'> {
  dispositions: Pick<Dispositions, 'discardDraft' | 'writeReceipt'>
}

const FAILING_MS = 10 * MINUTE
/** BATCH_SIZE is how many receipts are tried again after one listing. */
const BATCH_SIZE = 64

/**
 * failingMs returns how long the condition lasts without another failure. Each listing tries again and renews it; a
 * newer version may end the failure unseen.
 */
export function failingMs({ inbox }: Pick<Config, 'inbox'>): number {
  return FAILING_MS + inbox.rescanMs
}

/**
 * markReceiptsPending records that each file of the version needs a receipt, or only the file at `path`. Call it in the
 * transaction of the version's new state, or of the file that has its bytes.
 */
export function markReceiptsPending(
  { history, config }: Pick<Parts, 'history'> & { config: Pick<Config, 'inbox'> },
  version: Version,
  path: string | null = null,
): void {
  const { id } = version
  if (!config.inbox.receipts || !RECEIPTED.includes(version.state)) return
  const paths = path === null ? new Set([version.path, ...history.pathsOf(id)]) : [path]
  for (const each of paths)
    if (!isAbsolute(each)) history.oweReceipt({ id, path: each }, newToken())
}

export class Receipts {
  readonly #parts: ReceiptsParts
  /** The last write at each path: the next write waits for it. */
  readonly #lastWrite = new Map<string, Promise<void>>()
  /** The receipts that a crash left pending, with their tokens. */
  #pending: (OwedReceipt & { token: string })[] = []
  /** The receipts that could not be written, by version and path. */
  readonly #unwritten = new Map<string, OwedReceipt>()

  constructor(parts: ReceiptsParts) {
    this.#parts = parts
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
    const owed = this.#parts.history.owedReceipts(id)
    await Promise.all(owed.map((receipt) => this.#write(receipt, false)))
  }

  /**
   * #write writes one receipt after the others of its path. `isRepeat`: the log has the failure already, and the folder
   * was listed since. If the directory is missing then, it left with its files.
   */
  #write(owed: OwedReceipt, isRepeat: boolean): Promise<void> {
    const { path } = owed
    const before = this.#lastWrite.get(path) ?? Promise.resolve()
    const written = before.catch(() => {}).then(() => this.#writeNow(owed, isRepeat))
    this.#lastWrite.set(path, written)
    return written.finally(() => {
      if (this.#lastWrite.get(path) === written) this.#lastWrite.delete(path)
    })
  }

  /** recover reads which receipts a crash left pending. */
  recover(): void {
    this.#pending = this.#parts.history.owedReceipts()
  }

  /** complete writes the receipts that a crash left pending, each for the present state of its version. */
  async complete(): Promise<void> {
    const { dispositions } = this.#parts
    for (const { token, ...owed } of [...this.#pending]) {
      this.#pending.shift()
      await dispositions.discardDraft(owed.path, token)
      await this.#write(owed, false)
    }
  }

  /**
   * retry writes the pending receipts after a listing, also those that a command recorded, and then those that failed.
   * It stops at the first receipt that fails again, because each one costs a search of the history for a newer version.
   */
  async retry({ unknown }: Listing): Promise<void> {
    await this.writePending()
    for (const [key, owed] of [...this.#unwritten].slice(0, BATCH_SIZE)) {
      // A directory that could not be listed may come back.
      const isAway = unknown.some((prefix) => owed.path.startsWith(prefix))
      this.#unwritten.delete(key)
      if (isAway) this.#unwritten.set(key, owed)
      else await this.#write(owed, true)
      if (!isAway && this.#unwritten.has(key)) return
    }
  }

  async #writeNow(owed: OwedReceipt, isRepeat: boolean): Promise<void> {
    const { clock, conditions, dispositions, history, log, config } = this.#parts
    const token = history.receiptToken(owed)
    // Another call has written it meanwhile.
    if (token === null && !isRepeat) return
    // The version may get another state during the write; its receipt is then still owed.
    const settle = () => history.settleReceipt(owed, token)
    // The version may have changed during the write of another receipt at this path.
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
      at: isoTime(clock.now()) ?? '',
    }
    const written = await dispositions.writeReceipt(receipt, token ?? newToken())
    const isMissing = written.kind === 'problem' && isDirectoryMissing(written.code)
    if (written.kind === 'problem' && !isMissing) {
      const facts = { id, feed: version.feed, path: file, ...written }
      if (!isRepeat) log.warn({ event: 'file.no-receipt', ...facts }, 'receipt not written')
      const message = `receipts cannot be written (${written.code})`
      conditions.set('dispositions-failing', { message, hint: written.hint }, failingMs(config))
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
function isToldAt(
  path: string,
  { id, state }: Version,
  history: Pick<History, 'hasNewerAt' | 'lastVersionAt'>,
): boolean {
  if (!RECEIPTED.includes(state) || history.hasNewerAt({ id, path }, RECEIPTED)) return false
  const isReplaced = state === 'superseded' || state === 'discarded'
  return !isReplaced || history.lastVersionAt(path)?.id === id
}

/** newToken returns 12 random hexadecimal digits. */
export function newToken(): string {
  return randomBytes(6).toString('hex')
}
