import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type Connection, openWritable } from '../../../src/history/connection.ts'
import { DatabaseWatch } from '../../../src/history/database-watch.ts'
import { acquireLock } from '../../../src/history/instance-lock.ts'
import { temporaryFolder } from '../../helpers/history/temporary.ts'

it.each<[string, string, (state: string) => void]>([
  ['directory', 'moved away or unmounted', (state) => renameSync(state, `${state}-away`)],
  [
    'database',
    'deleted, replaced or moved away',
    (state) => {
      for (const end of ['', '-wal', '-shm']) rmSync(join(state, `feedsyncd.db${end}`))
    },
  ],
])('a %s that goes between two looks was %s, and not a part of it', (_, what, harm) => {
  const state = join(temporaryFolder(), 'state')
  mkdirSync(state)
  using _lock = acquireLock(state)
  using connection = openWritable(join(state, 'feedsyncd.db'))
  connection.script('CREATE TABLE t (n)')
  let looks = Number.POSITIVE_INFINITY
  // The path is read again when the log is looked at.
  const harmed = new Proxy(connection, {
    get(target, name) {
      if (name === 'file' && ++looks === 2) harm(state)
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  }) as Connection
  const watch = new DatabaseWatch(harmed)

  looks = 0
  const lost = watch.lost()

  expect(lost?.exitCode).toBe(78)
  expect(lost?.message).toContain(`was ${what}`)
})

it('the copy of a database that was deleted can take its place: whoever might read that one may read it', () => {
  const state = temporaryFolder()
  const file = join(state, 'feedsyncd.db')
  using connection = openWritable(file)
  connection.script('CREATE TABLE t (n)')
  const { mode } = statSync(file)
  const watch = new DatabaseWatch(connection)
  rmSync(file)

  const lost = watch.lost()

  const [copy = ''] = readdirSync(state).filter((name) => name.includes('.saved-'))
  expect(lost?.hint).toContain(copy)
  expect(statSync(join(state, copy)).mode).toBe(mode)
})
