// Writes receipts beside the dropped files, for people who only have SFTP. The transaction that ends a version also
// notes its receipt, so that a crash before the write does not lose the receipt.

import { randomBytes } from 'node:crypto'
import { isAbsolute } from 'node:path'
import type { Conditions } from '../domain/conditions.ts'
import { RECEIPTED } from '../domain/states.ts'
import type { History, Version } from '../history/port.ts'
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

/** NOTE begins the name of a note; the rest is the id of a version, a space, and a path that still needs its receipt. */
const NOTE = 'receipt owed '
const FAILING_MS = 10 * MINUTE
/** BATCH_SIZE is how many receipts are tried again after one listing. */
const BATCH_SIZE = 64

/**
 * failingMs returns how long the condition lasts without another failure. Each listing tries again and renews it; a
 * newer version may end the failure unseen. `rescanMs` is the longest time between two listings.
 */
export function failingMs(rescanMs: number): number {
  return FAILING_MS + rescanMs
}

/** Owed is a receipt: the file at `path` is, or has the bytes of, the version `id`. */
interface Owed {
  id: number
  path: string
}

/**
 * markReceiptsPending notes that each file of the version needs a receipt, or only the file at `path`. Call it if the
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
    if (!isAbsolute(each)) history.setNote(noteOf({ id, path: each }), newToken())
}

const noteOf = ({ id, path }: Owed) => `${NOTE}${id} ${path}`

function owedBy(note: string): Owed {
  const owed = note.slice(NOTE.length)
  return { id: Number.parseInt(owed, 10), path: owed.slice(owed.indexOf(' ') + 1) }
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
  /** The notes of receipts that a crash left pending, with their tokens. */
  readonly #pending = new Map<string, string>()
  /** The notes of receipts that could not be written. */
  readonly #unwritten = new Set<string>()

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
    const notes = this.#history.notes(id === null ? NOTE : `${NOTE}${id} `)
    await Promise.all(notes.map((note) => this.#write(note)))
  }

  /**
   * #write writes one receipt after the others of its path. `isRepeat`: the log has the failure already, and the folder
   * was listed since. If the directory is missing then, it left with its files.
   */
  #write(note: string, { isRepeat = false } = {}): Promise<void> {
    const { path } = owedBy(note)
    const before = this.#lastWrite.get(path) ?? Promise.resolve()
    const written = before.catch(() => {}).then(() => this.#writeNow(note, { isRepeat }))
    this.#lastWrite.set(path, written)
    return written.finally(() => {
      if (this.#lastWrite.get(path) === written) this.#lastWrite.delete(path)
    })
  }

  /** recover reads which receipts a crash left pending. */
  recover(): void {
    for (const note of this.#history.notes(NOTE))
      this.#pending.set(note, this.#history.note(note) ?? '')
  }

  /** complete writes the receipts that a crash left pending, each for the present state of its version. */
  async complete(): Promise<void> {
    for (const [note, token] of this.#pending) {
      this.#pending.delete(note)
      await this.#dispositions.discardDraft(owedBy(note).path, token)
      await this.#write(note)
    }
  }

  /**
   * retry writes the pending receipts after a listing, also those that a command noted, and then those that failed. It
   * stops at the first receipt that fails again, because each one costs a search of the history for a newer version.
   */
  async retry({ unknown }: Listing): Promise<void> {
    await this.writePending()
    for (const note of [...this.#unwritten].slice(0, BATCH_SIZE)) {
      // A directory that could not be listed may come back.
      const isAway = unknown.some((prefix) => owedBy(note).path.startsWith(prefix))
      this.#unwritten.delete(note)
      if (isAway) this.#unwritten.add(note)
      else await this.#write(note, { isRepeat: true })
      if (!isAway && this.#unwritten.has(note)) return
    }
  }

  async #writeNow(note: string, { isRepeat }: { isRepeat: boolean }): Promise<void> {
    const history = this.#history
    const token = history.note(note)
    // Another call has written it meanwhile.
    if (token === null && !isRepeat) return
    // Another state of this version may be noted during the write; that note stays.
    const settle = () => {
      if (history.note(note) === token) history.setNote(note, null)
    }
    // The version may have changed during the write of another receipt at this path.
    const { id, path: file } = owedBy(note)
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
    if (written.kind === 'problem' && !(isMissing && isRepeat)) this.#unwritten.add(note)
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
