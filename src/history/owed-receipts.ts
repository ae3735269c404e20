// Owns which receipts are still to be written, so that a crash before the write loses none.

import type { Connection } from './connection.ts'

/** OwedReceipt is a receipt: the file at `path` is, or has the bytes of, the version `id`. */
export interface OwedReceipt {
  id: number
  path: string
}

export type OwedReceipts = ReturnType<typeof owedReceipts>

export function owedReceipts(db: Connection) {
  const OWED = 'SELECT version AS id, path, token FROM owed_receipts'
  return {
    /**
     * owedReceipts returns the receipts that are owed for a version, or all of them, with the tokens of their drafts.
     */
    owedReceipts: (id: number | null = null) =>
      id === null
        ? db.rows<OwedReceipt & { token: string }>(OWED)
        : db.rows<OwedReceipt & { token: string }>(`${OWED} WHERE version = ?`, id),

    /** receiptToken returns the token of a receipt, which changes each time it is owed anew; null if it is not owed. */
    receiptToken: ({ id, path }: OwedReceipt) =>
      db.value<string>('SELECT token FROM owed_receipts WHERE version = ? AND path = ?', id, path),

    oweReceipt: ({ id, path }: OwedReceipt, token: string): void =>
      void db.run('REPLACE INTO owed_receipts VALUES (?, ?, ?)', id, path, token),

    /** settleReceipt says that a receipt was written, unless it was owed anew meanwhile. */
    settleReceipt: ({ id, path }: OwedReceipt, token: string | null): void =>
      void db.run(
        'DELETE FROM owed_receipts WHERE version = ? AND path = ? AND token = ?',
        id,
        path,
        token,
      ),
  }
}
