// Receipts beside the dropped files, for people who only have SFTP. A receipt is noted in the transaction that ends
// its version, so that a crash before it is written does not forget it.

import { randomBytes } from 'node:crypto'
import { isAbsolute } from 'node:path'
import type { Settings } from '../config/config.ts'
import type { Notes, Transactions, Version, VersionReads } from '../history/port.ts'
import { RECEIPTED } from '../history/states.ts'
import type { Dispositions, Receipt } from '../inbox/port.ts'
import { type Clock, isoTime, MINUTE } from '../lib/clock.ts'
import type { Conditions } from '../lib/conditions.ts'
import type { Log } from '../lib/log.ts'

export interface ReceiptsParts {
  clock: Clock
  conditions: Pick<Conditions, 'set' | 'clear'>
  log: Log
  history: VersionReads & Notes & Transactions
  dispositions: Pick<Dispositions, 'discardDraft' | 'writeReceipt'>
  settings: Settings<'inbox'>
}

/** Name of the note that says which version still needs its receipt. */
const NOTE = 'receipt owed '
/** Each listing tries again; a newer version at the path may end it unseen. */
const FAILING_MS = 10 * MINUTE

/** Within the transaction of the version's new state. */
export function markReceiptPending(
  history: Pick<Notes, 'setNote'>,
  settings: Settings<'inbox'>,
  version: Version,
): void {
  if (needsReceipt(version, settings)) history.setNote(NOTE + version.id, newToken())
}

/** Answers whether the version has the receipt that it needs. `isRepeat`: the log has the failure already. */
export async function writeReceipt(
  parts: ReceiptsParts,
  version: Version,
  isRepeat = false,
): Promise<boolean> {
  const { clock, conditions, dispositions, history, log, settings } = parts
  if (!needsReceipt(version, settings)) return true
  const note = NOTE + version.id
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
  const written = await dispositions.writeReceipt(receipt, history.note(note) ?? newToken())
  if (written.kind === 'problem') {
    const facts = { id: version.id, feed: version.feed, path: file, ...written }
    if (!isRepeat) log.warn({ event: 'file.no-receipt', ...facts }, 'receipt not written')
    const message = `receipts cannot be written (${written.code})`
    conditions.set('dispositions-failing', { message, hint: written.hint }, FAILING_MS)
  } else if (isRepeat) conditions.clear('dispositions-failing')
  await history.commit(() => history.setNote(note, null), 'soon')
  return written.kind !== 'problem'
}

/** After a crash. A version that went on since then gets the receipt of its new state. */
export async function recoverReceipts(parts: ReceiptsParts): Promise<void> {
  const { dispositions, history } = parts
  for (const note of history.notes(NOTE)) {
    const version = history.version(Number(note.slice(NOTE.length)))
    if (version !== null) {
      await dispositions.discardDraft(version.path, history.note(note) ?? '')
      await writeReceipt(parts, version)
    }
    await history.commit(() => history.setNote(note, null), 'soon')
  }
}

/** Only beside files of the folder: neither for a directory, nor for a file that a person named elsewhere. */
function needsReceipt({ path, state }: Version, settings: Settings<'inbox'>): boolean {
  if (!settings.current.inbox.receipts || !RECEIPTED.includes(state)) return false
  return !isAbsolute(path) && !path.endsWith('/')
}

/** 12 hexadecimal digits. */
export function newToken(): string {
  return randomBytes(6).toString('hex')
}
