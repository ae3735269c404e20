// Owns which receipts are pending, which means still to be written. A crash before the write loses no receipt.

import type { Connection } from './connection.ts'

/** PendingReceipt is a receipt that is still to be written. The file at `path` has the bytes of the version `id`. */
export interface PendingReceipt {
  id: number
  path: string
}

const PENDING = 'SELECT version AS id, path, token FROM pending_receipts'

export function pendingReceipts(db: Connection) {
  return {
    /** pendingReceipts returns the pending receipts of one version or of all, with the tokens of their drafts. */
    pendingReceipts: (id: number | null = null) =>
      id === null
        ? db.rows<PendingReceipt & { token: string }>(PENDING)
        : db.rows<PendingReceipt & { token: string }>(`${PENDING} WHERE version = ?`, id),

    /** receiptToken returns the token of a pending receipt, or null. Each `addPendingReceipt` gives another token. */
    receiptToken: ({ id, path }: PendingReceipt) =>
      db.value<string>(
        'SELECT token FROM pending_receipts WHERE version = ? AND path = ?',
        id,
        path,
      ),

    addPendingReceipt: ({ id, path }: PendingReceipt, token: string): void =>
      void db.run('REPLACE INTO pending_receipts VALUES (?, ?, ?)', id, path, token),

    /** receiptWritten removes a pending receipt, unless `addPendingReceipt` gave it another token meanwhile. */
    receiptWritten: ({ id, path }: PendingReceipt, token: string | null): void =>
      void db.run(
        'DELETE FROM pending_receipts WHERE version = ? AND path = ? AND token = ?',
        id,
        path,
        token,
      ),
  }
}
