// Owns the version of the schema: the numbered migrations, applying them, and refusing a newer schema. Migrations are
// SQL in TypeScript modules, because `tsc` copies no other files to dist/.

import { ConditionError } from '../domain/conditions.ts'
import { EXIT } from '../lib/errors.ts'
import { type Connection, openReadOnly } from './connection.ts'
import { initialCampaigns } from './migrations/0001-campaigns.ts'
import { initial } from './migrations/0001-initial.ts'

/** MIGRATIONS are in order: the first migration makes schema 1 from an empty file. */
export const MIGRATIONS: readonly string[] = [initial + initialCampaigns]

/** APPLICATION marks a database file as a history of feedsyncd: the letters `fsyn`. */
export const APPLICATION = 0x6673796e

export function schemaVersion(connection: Connection): number {
  return Number(connection.pragma('user_version'))
}

/** migrate applies the missing migrations, each in one transaction with its number. Returns the applied numbers. */
export function migrate(connection: Connection, migrations = MIGRATIONS): number[] {
  assertNotNewer(connection, migrations.length)
  const applied: number[] = []
  for (const [index, sql] of migrations.entries()) {
    const number = index + 1
    if (schemaVersion(connection) >= number) continue
    connection.atomically(() => {
      // Another process might have applied this migration while this process waited for the lock.
      if (schemaVersion(connection) >= number) return
      connection.script(sql)
      connection.pragma(`user_version = ${number}`)
      connection.pragma(`application_id = ${APPLICATION}`)
      applied.push(number)
    })
  }
  return applied
}

/** assertNotNewer throws `FeedsyncError` (78) when a newer feedsyncd than this one wrote the database. */
function assertNotNewer(connection: Connection, newest = MIGRATIONS.length): void {
  const found = schemaVersion(connection)
  if (found <= newest) return
  // `status --check` is critical, because no daemon starts with this database.
  throw new ConditionError(
    'state-failing',
    `${connection.file} was written by a newer feedsyncd (schema ${found}, this one knows ${newest})`,
    {
      hint: 'Install that newer feedsyncd again, or restore the copy of the history made before it.',
      exitCode: EXIT.config,
    },
  )
}

/**
 * openReader opens the database for reading and returns the result of `reads`, which then owns the connection. Returns
 * null when there is no database yet. Throws `FeedsyncError`.
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
