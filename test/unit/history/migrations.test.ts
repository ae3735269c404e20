import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Connection, openWritable } from '../../../src/history/connection.ts'
import { MIGRATIONS, migrate, schemaVersion } from '../../../src/history/migrations.ts'
import { openHistory } from '../../../src/history/sqlite-history.ts'
import { openHistoryReader } from '../../../src/history/tables.ts'
import { errorCode } from '../../../src/lib/errors.ts'
import {
  temporaryFolder,
  temporaryHistory,
  thrownBy,
  versionIn,
} from '../../helpers/history/temporary.ts'

function migrated(): Connection {
  const connection = openWritable(join(temporaryFolder(), 'history.db'))
  onTestFinished(() => connection[Symbol.dispose]())
  migrate(connection)
  return connection
}

describe('migrations', () => {
  it('are applied once and in order, each with its number', () => {
    const connection = migrated()

    expect(schemaVersion(connection)).toBe(MIGRATIONS.length)
    expect(migrate(connection)).toEqual([])
    expect(migrate(connection, [...MIGRATIONS, 'CREATE TABLE a (b)', 'DROP TABLE a'])).toEqual([
      MIGRATIONS.length + 1,
      MIGRATIONS.length + 2,
    ])
    expect(schemaVersion(connection)).toBe(MIGRATIONS.length + 2)
  })

  it('are not applied again when another process was faster', () => {
    const file = join(temporaryFolder(), 'history.db')
    class Overtaken extends Connection {
      override atomically<T>(work: () => T): T {
        openHistory({ file })[Symbol.dispose]()
        return super.atomically(work)
      }
    }
    using connection = new Overtaken(new Database(file), file)

    expect(migrate(connection)).toEqual([])
    expect(schemaVersion(connection)).toBe(MIGRATIONS.length)
  })

  it('leave no change behind when one fails half way', () => {
    const connection = migrated()

    const error = thrownBy(() => migrate(connection, [...MIGRATIONS, 'CREATE TABLE a (b); OOPS']))

    expect(errorCode(error)).toBe('SQLITE_ERROR')
    expect(schemaVersion(connection)).toBe(MIGRATIONS.length)
    expect(connection.rows("SELECT 1 FROM sqlite_schema WHERE name = 'a'")).toEqual([])
  })

  it.each([
    ['writer', openHistory],
    ['reader', openHistoryReader],
  ])('refuse the database of a newer feedsyncd and say what to do (%s)', (_, open) => {
    const { history, file } = temporaryHistory()
    versionIn(history, 'held')
    using beside = openWritable(file)
    beside.pragma(`user_version = ${MIGRATIONS.length + 1}`)

    const error = thrownBy(() => open({ file }))

    expect(error.message).toBe(
      `${file} was written by a newer feedsyncd (schema ${MIGRATIONS.length + 1}, this one knows ${MIGRATIONS.length})`,
    )
    expect(error.hint).toContain('Install that newer feedsyncd')
    expect(error.exitCode).toBe(78)
  })
})
