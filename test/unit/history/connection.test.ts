import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Connection, openWritable } from '../../../src/history/connection.ts'
import { migrate, openReader } from '../../../src/history/migrations.ts'
import type { History } from '../../../src/history/port.ts'
import { historyOn, openHistory } from '../../../src/history/sqlite-history.ts'
import { openHistoryReader } from '../../../src/history/tables.ts'
import { errorCode } from '../../../src/lib/errors.ts'
import { child } from '../../helpers/history/child.ts'
import {
  because,
  temporaryFolder,
  temporaryHistory,
  thrownBy,
  versionIn,
} from '../../helpers/history/temporary.ts'

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

/** beside opens a second connection, which belongs to the test. */
function beside(file: string): Database.Database {
  const db = new Database(file)
  onTestFinished(() => {
    db.close()
  })
  return db
}

function connected(busyTimeoutMs?: number): { connection: Connection; history: History } {
  const connection = openWritable(join(temporaryFolder(), 'history.db'))
  if (busyTimeoutMs !== undefined) connection.pragma(`busy_timeout = ${busyTimeoutMs}`)
  migrate(connection)
  const history = historyOn(connection)
  onTestFinished(() => history[Symbol.dispose]())
  return { connection, history }
}

describe('opening the history', () => {
  it('makes directories and files that its user may write and its group may read', () => {
    const { file } = temporaryHistory()

    expect([dirname(file), file, `${file}-wal`, `${file}-shm`].map(mode)).toEqual([
      '750',
      '640',
      '640',
      '640',
    ])
  })

  it('keeps the content of an existing history', () => {
    const { history, file } = temporaryHistory()
    const version = versionIn(history, 'held')

    using again = openHistory({ file })

    expect(again.list({})).toEqual([version])
  })

  it('uses a WAL that is synced at every commit, and foreign keys', () => {
    const { connection } = connected()

    expect(connection.pragma('journal_mode')).toBe('wal')
    expect(connection.pragma('synchronous')).toBe(2)
    expect(connection.pragma('foreign_keys')).toBe(1)
  })

  it('works for several processes that start at the same time without a database, and keeps the writes of each', async () => {
    const file = join(temporaryFolder(), 'state', 'history.db')
    const script = `
      using h = history.openHistory({ file: ${JSON.stringify(file)} })
      h.add({ feed: String(process.pid), path: 'a', account: null, state: 'settling', reason: null, at: 1 })
      console.log('done')`
    const children = [child(script), child(script), child(script)]

    const answers = await Promise.all(children.map((one) => one.line()))

    expect(answers).toEqual(['done', 'done', 'done'])
    using reader = openHistoryReader({ file })
    expect(reader?.count().settling).toBe(3)
  })

  it('leaves only its file and the lock when it is closed, with all its versions', () => {
    const file = join(temporaryFolder(), 'history.db')
    const history = openHistory({ file })
    const version = versionIn(history, 'held')

    history[Symbol.dispose]()

    expect(readdirSync(dirname(file))).toEqual(['daemon.lock', 'history.db'])
    using reader = openHistoryReader({ file })
    expect(reader?.list({})).toEqual([version])
  })
})

describe('a reader', () => {
  it('returns null while there is no history, and makes none', () => {
    const file = join(temporaryFolder(), 'state', 'history.db')

    expect(openHistoryReader({ file })).toBe(null)
    expect(existsSync(dirname(file))).toBe(false)
  })

  it('returns null for an empty file', () => {
    const file = join(temporaryFolder(), 'history.db')
    writeFileSync(file, '')

    expect(openHistoryReader({ file })).toBe(null)
  })

  it('sees each commit of the daemon, and nothing of an open transaction', () => {
    const { history, file } = temporaryHistory()
    using reader = openHistoryReader({ file })

    const version = versionIn(history, 'held')
    const during = history.atomically(() => {
      history.move(version.id, 'queued', { at: 2000 })
      return reader?.version(version.id)?.state
    })

    expect([during, reader?.version(version.id)?.state]).toEqual(['held', 'queued'])
  })
})

describe('another process that writes', () => {
  it('is detected, unlike our own writes, and we read what it wrote', () => {
    const { history, file } = temporaryHistory()
    const { id } = versionIn(history, 'held')
    const before = history.dataVersion()

    using release = openHistory({ file })
    versionIn(history, 'held')
    expect(history.dataVersion()).toBe(before)
    release.move(id, 'queued', { reason: because('released'), at: 2000 })

    expect(history.dataVersion()).not.toBe(before)
    expect(history.version(id)?.state).toBe('queued')
  })

  it('cannot write during our transaction, even one that has only read so far, and our write succeeds', () => {
    const { connection, history } = connected()
    const { id } = versionIn(history, 'held')
    const other = beside(connection.file)
    other.pragma('busy_timeout = 20')

    history.atomically(() => {
      history.version(id)
      expect(() => other.exec('DELETE FROM events')).toThrow('database is locked')
      history.move(id, 'queued', { at: 2000 })
    })

    expect(history.events(id).length).toBe(4)
    expect(history.version(id)?.state).toBe('queued')
  })

  it('makes our write fail with the reason, exit 75 and no change', () => {
    const { connection, history } = connected(20)
    const { id } = versionIn(history, 'held')
    beside(connection.file).exec('BEGIN IMMEDIATE')

    const error = thrownBy(() => history.move(id, 'queued', { at: 2000 }))

    expect(errorCode(error)).toBe('SQLITE_BUSY')
    expect(error.message).toBe(`${connection.file} is locked by another process`)
    expect(error.exitCode).toBe(75)
    expect(history.version(id)?.state).toBe('held')
  })
})

describe('the error names the cause', () => {
  it('when the disk is full (exit 75) and nothing is changed, and writes work again once there is room', () => {
    const { connection, history } = connected()
    const { id } = versionIn(history, 'held')
    const pages = connection.pragma('page_count')
    connection.pragma(`max_page_count = ${pages}`)
    const long = because('x'.repeat(100_000))

    const error = thrownBy(() => history.move(id, 'queued', { reason: long, at: 2000 }))

    expect(errorCode(error)).toBe('SQLITE_FULL')
    expect(error.message).toBe(`the disk is full: ${connection.file} cannot be written`)
    expect(error.exitCode).toBe(75)
    expect([history.version(id)?.state, history.events(id).length]).toEqual(['held', 3])
    connection.pragma('max_page_count = 1000000')
    expect(history.move(id, 'queued', { reason: long, at: 2000 }).state).toBe('queued')
  })

  it('when the directory is a file (exit 78), and says what the directory must be', () => {
    const file = join(temporaryFolder(), 'state', 'history.db')
    writeFileSync(dirname(file), 'not a directory')

    const error = thrownBy(() => openHistory({ file }))

    expect(['EEXIST', 'ENOTDIR']).toContain(errorCode(error))
    expect(error.message).toContain(`${file} cannot be opened`)
    expect(error.hint).toContain(`${dirname(file)} must be a directory`)
    expect(error.exitCode).toBe(78)
  })

  it('when the database is a directory', () => {
    const file = join(temporaryFolder(), 'history.db')
    mkdirSync(file)

    const error = thrownBy(() => openHistory({ file }))

    expect(errorCode(error)).toBe('SQLITE_CANTOPEN')
    expect(error.message).toContain(`${file} cannot be opened`)
  })

  it('when the database is read-only, and says as whom to run the command', () => {
    const { connection, history } = connected()
    const { id } = versionIn(history, 'held')
    connection.pragma('query_only = ON')

    const error = thrownBy(() => history.move(id, 'queued', { at: 2000 }))

    expect(errorCode(error)).toBe('SQLITE_READONLY')
    expect(error.hint).toContain(
      `Run this as root or as the user that owns ${dirname(connection.file)}`,
    )
  })

  it.each([
    ['writer', openHistory],
    ['reader', openHistoryReader],
  ])(
    'when the file is not a database (exit 78), says what to do, and leaves the file as it is (%s)',
    (_, open) => {
      const file = join(temporaryFolder(), 'history.db')
      const text = 'a letter to the editor, '.repeat(100)
      writeFileSync(file, text)

      const error = thrownBy(() => open({ file }))

      expect(errorCode(error)).toBe('SQLITE_NOTADB')
      expect(error.message).toContain(`${file} is damaged, or is not a SQLite database`)
      expect(error.hint).toContain('move the file away')
      expect(error.exitCode).toBe(78)
      expect(readFileSync(file, 'utf8')).toBe(text)
    },
  )

  it('when the end of the file is missing (exit 78), and the file keeps its size', () => {
    const file = join(temporaryFolder(), 'history.db')
    const history = openHistory({ file })
    history.atomically(() => {
      for (let n = 0; n < 500; n++) versionIn(history, 'held', { feed: `feed-${n}` })
    })
    history[Symbol.dispose]()
    truncateSync(file, 3 * 4096)

    const error = thrownBy(() => {
      using cut = openHistory({ file })
      return cut.list({ all: true })
    })

    expect(errorCode(error)).toMatch(/^SQLITE_CORRUPT/)
    expect(error.exitCode).toBe(78)
    expect(statSync(file).size).toBe(3 * 4096)
  })
})

it('the used bytes of a history do not include the free room of deleted rows', () => {
  const { history, file } = temporaryHistory()
  const used = () => {
    using found = openReader(file, (connection) => ({ bytes: connection.usedBytes() }))
    return found?.bytes ?? 0
  }

  const { id } = versionIn(history, 'uploaded')
  const before = used()
  history.update(id, { warnings: ['x'.repeat(5_000_000)] })
  const full = used()
  history.update(id, { warnings: [] })

  expect(full - before).toBeGreaterThan(5_000_000)
  expect(used() - before).toBeLessThan(100_000)
})
