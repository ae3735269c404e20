// Writes receipts beside the dropped files, for people who only have SFTP. The transaction that ends a version also
// notes its receipt, so that a crash before the write does not lose the receipt.

import { randomBytes } from 'node:crypto'
import { isAbsolute } from 'node:path'
import type { Config } from '../config/config.ts'
import type { Version } from '../history/port.ts'
import { RECEIPTED } from '../history/states.ts'
import type { Dispositions } from '../inbox/dispositions.ts'
import type { Listing, Receipt } from '../inbox/port.ts'
import { isoTime, MINUTE } from '../lib/clock.ts'
import { isMissing as isDirectoryMissing } from '../lib/errno.ts'
import type { Parts } from './parts.ts'

export interface ReceiptsParts
  extends Pick<Parts, 'clock' | 'conditions' | 'history' | 'log' | 'config'> {
  dispositions: Pick<Dispositions, 'discardDraft' | 'writeReceipt'>
}

/** NOTE begins the name of a note; the rest is the id of a version that still needs its receipt. */
const NOTE = 'receipt owed '
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

/** markReceiptPending notes that the version needs a receipt. Call it in the transaction of the version's new state. */
export function markReceiptPending(
  { history, config }: Pick<Parts, 'history' | 'config'>,
  version: Version,
): void {
  if (needsReceipt(version, config)) history.setNote(NOTE + version.id, newToken())
}

export class Receipts {
  readonly #parts: ReceiptsParts
  /** The last write at each path: the next write waits for it. */
  readonly #lastWrite = new Map<string, Promise<void>>()
  /** The notes of receipts that a crash left pending, with their tokens. */
  readonly #pending = new Map<string, string>()
  /** The ids of versions whose receipt could not be written. */
  readonly #unwritten = new Set<number>()

  constructor(parts: ReceiptsParts) {
    this.#parts = parts
  }

  /** isComplete is true if every receipt could be written. */
  get isComplete(): boolean {
    return this.#unwritten.size === 0
  }

  /**
   * write writes the receipt beside the file. The newest version of the file wins, in any order of the calls.
   * `isRepeat`: the log has the failure already, and the folder was listed since. If the directory is missing then, it
   * left with its files.
   */
  write(version: Version, isRepeat = false): Promise<void> {
    const { id, path } = version
    if (!needsReceipt(version, this.#parts.config)) return Promise.resolve()
    const before = this.#lastWrite.get(path) ?? Promise.resolve()
    const written = before.catch(() => {}).then(() => this.#writeNow(id, isRepeat))
    this.#lastWrite.set(path, written)
    return written.finally(() => {
      if (this.#lastWrite.get(path) === written) this.#lastWrite.delete(path)
    })
  }

  /** recover reads which receipts a crash left pending. */
  recover(): void {
    const { history } = this.#parts
    for (const note of history.notes(NOTE)) this.#pending.set(note, history.note(note) ?? '')
  }

  /** complete writes the receipts that a crash left pending, each for the present state of its version. */
  async complete(): Promise<void> {
    const { dispositions, history } = this.#parts
    for (const [note, token] of this.#pending) {
      this.#pending.delete(note)
      const version = history.version(Number(note.slice(NOTE.length)))
      if (version !== null) {
        await dispositions.discardDraft(version.path, token)
        await this.write(version)
      }
      // Another state of the version may have been noted since.
      const isOld = () => history.note(note) === token
      await history.commit(() => (isOld() ? history.setNote(note, null) : undefined), 'soon')
    }
  }

  /**
   * retry writes the missing receipts after a listing. It stops at the first receipt that fails again, because each one
   * costs a search of the history for a newer version.
   */
  async retry({ unknown }: Listing): Promise<void> {
    const { history } = this.#parts
    for (const id of [...this.#unwritten].slice(0, BATCH_SIZE)) {
      const version = history.version(id)
      // A directory that could not be listed may come back.
      const isAway = unknown.some((prefix) => version?.path.startsWith(prefix))
      this.#unwritten.delete(id)
      if (isAway) this.#unwritten.add(id)
      else if (version !== null) await this.write(version, true)
      if (!isAway && this.#unwritten.has(id)) return
    }
  }

  async #writeNow(id: number, isRepeat: boolean): Promise<void> {
    const { clock, conditions, dispositions, history, log, config } = this.#parts
    const note = NOTE + id
    const token = history.note(note)
    // Another state of this version may be noted during the write; that note stays.
    const settle = () => {
      if (history.note(note) === token) history.setNote(note, null)
    }
    // The version may have changed during the write of another receipt at this path.
    const version = history.version(id)
    const isNewest = version !== null && !history.hasNewerAt(version, RECEIPTED)
    if (!isNewest || !needsReceipt(version, config)) return history.commit(settle, 'soon')
    const { path: file, state, reason, reasonCode, line, column } = version
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
      const facts = { id: version.id, feed: version.feed, path: file, ...written }
      if (!isRepeat) log.warn({ event: 'file.no-receipt', ...facts }, 'receipt not written')
      const message = `receipts cannot be written (${written.code})`
      conditions.set('dispositions-failing', { message, hint: written.hint }, failingMs(config))
    }
    if (written.kind === 'problem' && !(isMissing && isRepeat)) this.#unwritten.add(id)
    await history.commit(settle, 'soon')
  }
}

/** needsReceipt is false for a file outside the folder. */
function needsReceipt({ path, state }: Version, config: Config): boolean {
  if (!config.inbox.receipts || !RECEIPTED.includes(state)) return false
  return !isAbsolute(path)
}

/** newToken returns 12 random hexadecimal digits. */
export function newToken(): string {
  return randomBytes(6).toString('hex')
}
