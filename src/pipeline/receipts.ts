// Receipts beside the dropped files, for people who only have SFTP. A receipt is noted in the transaction that ends
// its version, so that a crash before it is written does not forget it.

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

/** Name of the note that says which version still needs its receipt. */
const NOTE = 'receipt owed '
const FAILING_MS = 10 * MINUTE
/** Receipts that are tried again after one listing. */
const BATCH_SIZE = 64

/** What fails is tried again with each listing; a newer version may end it unseen. */
export function failingMs({ inbox }: Pick<Config, 'inbox'>): number {
  return FAILING_MS + inbox.rescanMs
}

/** Within the transaction of the version's new state. */
export function markReceiptPending(
  { history, config }: Pick<Parts, 'history' | 'config'>,
  version: Version,
): void {
  if (needsReceipt(version, config)) history.setNote(NOTE + version.id, newToken())
}

export class Receipts {
  readonly #parts: ReceiptsParts
  /** The last receipt that was begun at each path: the next one is written after it. */
  readonly #lastWrite = new Map<string, Promise<void>>()
  /** Versions whose receipt could not be written. */
  readonly #unwritten = new Set<number>()

  constructor(parts: ReceiptsParts) {
    this.#parts = parts
  }

  /** Whether every receipt could be written. */
  get isComplete(): boolean {
    return this.#unwritten.size === 0
  }

  /**
   * Beside a file, the receipt is that of its newest version that has one, in the order of the versions, not of the
   * writes. `isRepeat`: the log has the failure already, and the folder was listed since: a directory that is missing
   * then has left with its files.
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

  /** After a crash. A version that went on since then gets the receipt of its new state. */
  async recover(): Promise<void> {
    const { dispositions, history } = this.#parts
    for (const note of history.notes(NOTE)) {
      const version = history.version(Number(note.slice(NOTE.length)))
      if (version !== null) {
        await dispositions.discardDraft(version.path, history.note(note) ?? '')
        await this.write(version)
      }
      await history.commit(() => history.setNote(note, null), 'soon')
    }
  }

  /**
   * The folder was listed. Up to the first that cannot be written: the older it is, the longer the history is searched
   * for a newer one.
   */
  async retry({ unknown }: Listing): Promise<void> {
    const { history } = this.#parts
    for (const id of [...this.#unwritten].slice(0, BATCH_SIZE)) {
      const version = history.version(id)
      // A directory that could not be listed may only be away.
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
    // Its state may be marked once more while this is written.
    const settle = () => {
      if (history.note(note) === token) history.setNote(note, null)
    }
    // It may have gone on while another receipt of the path was written.
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

/** Only beside files of the folder: not for one that a person named elsewhere. */
function needsReceipt({ path, state }: Version, config: Config): boolean {
  if (!config.inbox.receipts || !RECEIPTED.includes(state)) return false
  return !isAbsolute(path)
}

/** 12 hexadecimal digits. */
export function newToken(): string {
  return randomBytes(6).toString('hex')
}
