// Work that shares a commit is as durable as with a commit of its own, and an error of one work affects no other.

import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import type { Connection } from '../../../src/history/connection.ts'
import { GroupCommit } from '../../../src/history/group-commit.ts'
import { openHistoryReader } from '../../../src/history/tables.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { FeedsyncError } from '../../../src/lib/errors.ts'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

/** countingDatabase counts its outermost transactions, which `ends` may let fail. */
function countingDatabase(ends: (() => void)[] = []) {
  let depth = 0
  const seen = { commits: 0 }
  const atomically: Connection['atomically'] = (work) => {
    depth += 1
    try {
      const done = work()
      if (depth === 1) {
        ends.shift()?.()
        seen.commits += 1
      }
      return done
    } finally {
      depth -= 1
    }
  }
  return { atomically, seen }
}

/** hastyClock is a clock whose waits take no real time. */
function hastyClock() {
  let passed = 0
  return {
    ...systemClock,
    monotonic: () => passed,
    sleep: (ms: number) => {
      passed += ms
      return Promise.resolve()
    },
  }
}

const locked = () => {
  throw new FeedsyncError('it is locked', {
    exitCode: 75,
    cause: Object.assign(new Error('busy'), { code: 'SQLITE_BUSY' }),
  })
}

it('commits all work of one moment together, in order', async () => {
  const { atomically, seen } = countingDatabase()
  const group = new GroupCommit({ atomically }, systemClock)
  const order: number[] = []

  const all = [1, 2, 3].map((n) => group.add(() => order.push(n)))

  expect(await Promise.all(all)).toEqual([1, 2, 3])
  expect(order).toEqual([1, 2, 3])
  expect(seen.commits).toBe(1)
})

it('pauses after a shared commit, longer after a slow one, but at most 20 ms, and not after other commits', async () => {
  const clock = hastyClock()
  const slept: number[] = []
  const took = [4, 1000, 0, 5]
  const { atomically } = countingDatabase(took.map((ms) => () => void clock.sleep(ms)))
  const sleep = (ms: number) => {
    slept.push(ms)
    return clock.sleep(ms)
  }
  const group = new GroupCommit({ atomically }, { ...clock, sleep })

  for (const n of took.slice(0, 3)) await Promise.all([group.add(() => n), group.add(() => n)])
  await group.add(() => 'alone')
  await group.add(() => 'the next one, at once')

  expect(slept).toEqual([8, 20])
})

it('rejects only the work that throws, and undoes its writes', async () => {
  const { history } = temporaryHistory()
  const { id } = versionIn(history, 'uploading')

  const wrong = history.commit(() => {
    history.startAttempt(id, 1, 'undone')
    throw new Error('a mistake')
  })
  const right = history.commit(() => {
    history.startAttempt(id, 2, 'kept')
    return 'written'
  })

  await expect(wrong).rejects.toThrow('a mistake')
  expect(await right).toBe('written')
  expect(history.attempts(id).map(({ key }) => key)).toEqual(['kept'])
})

it('rejects all work of a commit that the database refuses, and writes nothing', async () => {
  const full = () => {
    throw new FeedsyncError('the disk is full', { exitCode: 75 })
  }
  const { atomically, seen } = countingDatabase([full])
  const group = new GroupCommit({ atomically }, systemClock)

  const ends = await Promise.allSettled([group.add(() => 1), group.add(() => 2)])

  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(seen.commits).toBe(0)
})

it('waits for the lock of another process, and then writes everything once', async () => {
  const { atomically, seen } = countingDatabase([locked, locked, locked])
  const group = new GroupCommit({ atomically }, hastyClock())

  expect(await Promise.all([group.add(() => 'a'), group.add(() => 'b')])).toEqual(['a', 'b'])
  expect(seen.commits).toBe(1)
})

it('fails with the lock as the reason when another process keeps the lock for too long', async () => {
  const { atomically } = countingDatabase(Array(1000).fill(locked))
  const group = new GroupCommit({ atomically }, hastyClock())

  await expect(group.add(() => 1)).rejects.toThrow('it is locked')
})

it('lets other work run while another process has the lock, and then writes', async () => {
  const { history, file } = temporaryHistory({ busyTimeoutMs: 20 })
  const { id } = versionIn(history, 'uploading')
  const other = new Database(file)
  other.exec('BEGIN IMMEDIATE')
  let turns = 0
  const turn = () => {
    turns += 1
    if (turns === 20) other.exec('COMMIT')
    else setImmediate(turn)
  }
  setImmediate(turn)

  await history.commit(() => history.update(id, { fileUrl: 'x' }))

  other.close()
  expect(turns).toBe(20)
  expect(history.version(id)?.fileUrl).toBe('x')
})

it('writes waiting work before the database closes', async () => {
  const { history, file } = temporaryHistory()
  const { id } = versionIn(history, 'uploading')

  const started = history.commit(() => {
    history.startAttempt(id, 1, null)
    return 'written'
  })
  history[Symbol.dispose]()

  expect(await started).toBe('written')
  using after = openHistoryReader({ file })
  expect(after?.attempts(id)).toHaveLength(1)
})

it('runs the steps after a commit once it is durable, steps without a commit at once, and none of work that was undone', async () => {
  const { history, file } = temporaryHistory()
  const { id } = versionIn(history, 'uploading')
  using other = openHistoryReader({ file })
  const followed: [string, number | undefined][] = []
  const then = (what: string) =>
    history.afterCommit(() => followed.push([what, other?.attempts(id).length]))

  const wrong = history.commit(() => {
    then('of the mistake')
    throw new Error('a mistake')
  })
  const right = history.commit(() => {
    history.atomically(() => history.startAttempt(id, 1, null))
    then('of the attempt')
  })
  await expect(wrong).rejects.toThrow('a mistake')
  await right
  then('of nothing')

  expect(followed).toEqual([
    ['of the attempt', 1],
    ['of nothing', 1],
  ])
})
