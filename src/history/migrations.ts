// Owns the schema's version: which numbered migrations exist, applying them, refusing a newer schema.
// They are SQL in TypeScript modules, because `tsc` copies no other files to dist/.

import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { type Connection, openReadOnly } from './connection.ts'
import { initial } from './migrations/0001-initial.ts'

/** In order: the first one leads from an empty file to schema 1. */
export const MIGRATIONS: readonly string[] = [initial]

export function schemaVersion(connection: Connection): number {
  return Number(connection.pragma('user_version'))
}

/** Applies what is missing, each migration in one transaction with its number. Answers the numbers applied. */
export function migrate(connection: Connection, migrations = MIGRATIONS): number[] {
  assertNotNewer(connection, migrations.length)
  const applied: number[] = []
  for (const [index, sql] of migrations.entries()) {
    const number = index + 1
    if (schemaVersion(connection) >= number) continue
    connection.atomically(() => {
      // Another process may have been faster while this one waited for the lock.
      if (schemaVersion(connection) >= number) return
      connection.script(sql)
      connection.pragma(`user_version = ${number}`)
      applied.push(number)
    })
  }
  return applied
}

/** Throws `FeedsyncError` (78) when the database was written by a newer feedsyncd than this one. */
function assertNotNewer(connection: Connection, newest = MIGRATIONS.length): void {
  const found = schemaVersion(connection)
  if (found <= newest) return
  throw new FeedsyncError(
    `${connection.file} was written by a newer feedsyncd (schema ${found}, this one knows ${newest})`,
    {
      hint: 'Install that newer feedsyncd again, or restore the copy of the history made before it.',
      // Critical for `status --check`: no daemon starts with it.
      condition: 'state-failing',
      exitCode: EXIT.config,
    },
  )
}

/**
 * Opens for reading, with what `reads` makes of the connection; null where there is no database yet. The answer
 * owns the connection. Throws `FeedsyncError`.
 */
export function openReader<T extends object>(
  file: string,
  reads: (connection: Connection) => T,
): (T & Disposable) | null {
  using opening = new DisposableStack()
  const connection = opening.use(openReadOnly(file))
  if (connection === null) return null
  assertNotNewer(connection)
  if (schemaVersion(connection) === 0) return null
  const answer = { ...reads(connection), [Symbol.dispose]: () => connection[Symbol.dispose]() }
  opening.move()
  return answer
}
