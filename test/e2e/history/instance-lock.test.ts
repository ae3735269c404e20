import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { acquireLock, isLocked } from '../../../src/history/instance-lock.ts'
import { openHistory } from '../../../src/history/sqlite-history.ts'
import { errorCode, FeedsyncError } from '../../../src/lib/errors.ts'
import { becomeNobody, child } from '../../helpers/history/child.ts'
import { temporaryFolder } from '../../helpers/history/temporary.ts'

/** holder starts a process that holds the lock of a directory until it is killed. */
async function holder(directory: string) {
  const run = child(`
    globalThis.held = lock.acquireLock(${JSON.stringify(directory)})
    console.log(globalThis.held === null ? 'refused' : 'held')
    process.stdin.resume()`)
  expect(await run.line()).toBe('held')
  return run
}

describe('the lock of a state directory', () => {
  it('belongs to one process, and is free at once when that process is killed', async () => {
    const directory = join(temporaryFolder(), 'state')
    const other = await holder(directory)

    const during = [isLocked(directory), acquireLock(directory)]
    other.process.kill('SIGKILL')
    await other.ended()

    expect(during).toEqual([true, null])
    expect(isLocked(directory)).toBe(false)
    using ours = acquireLock(directory)
    expect(ours).not.toBe(null)
  })

  it('is refused a second time within one process, and is free after it is disposed', () => {
    const directory = temporaryFolder()
    const first = acquireLock(directory)

    expect([isLocked(directory), acquireLock(directory), isLocked(directory)]).toEqual([
      true,
      null,
      true,
    ])
    first?.[Symbol.dispose]()

    expect(isLocked(directory)).toBe(false)
  })

  it('is taken at once beside a history that a command made, and after a wait when it was deleted', () => {
    const directory = temporaryFolder()
    openHistory({ file: join(directory, 'feedsyncd.db') })[Symbol.dispose]()
    const wait = vi.spyOn(Atomics, 'wait').mockReturnValue('timed-out')

    acquireLock(directory)?.[Symbol.dispose]()
    const before = wait.mock.calls.length
    rmSync(join(directory, 'daemon.lock'))
    acquireLock(directory)?.[Symbol.dispose]()

    expect([before, wait.mock.calls.length]).toEqual([0, 1])
  })

  it('stays held while others look at it and try to take it', async () => {
    const directory = temporaryFolder()
    using ours = acquireLock(directory)

    const other = child(`
      const directory = ${JSON.stringify(directory)}
      console.log(lock.isLocked(directory), lock.acquireLock(directory), lock.isLocked(directory))`)

    expect(await other.line()).toBe('true null true')
    expect(ours).not.toBe(null)
  })

  it('can be taken while others ask all the time whether it is held', async () => {
    const directory = temporaryFolder()
    acquireLock(directory)?.[Symbol.dispose]()
    const asking = child(`
      console.log('asking')
      for (;;) lock.isLocked(${JSON.stringify(directory)})`)
    await asking.line()

    for (let n = 0; n < 20; n++) {
      using ours = acquireLock(directory)
      expect(ours).not.toBe(null)
    }
  })

  it('is visible to a user who may only read', async () => {
    const directory = temporaryFolder()
    using ours = acquireLock(directory)
    chmodSync(join(directory, 'daemon.lock'), 0o444)
    chmodSync(directory, 0o555)
    const look = `console.log(lock.isLocked(${JSON.stringify(directory)}))`

    const held = await child(becomeNobody() + look).line()
    ours?.[Symbol.dispose]()
    const free = await child(becomeNobody() + look).line()

    chmodSync(directory, 0o755)
    expect([held, free]).toEqual(['true', 'false'])
  })

  it('is an error, not free, for a user who may not read it', async () => {
    const directory = join(temporaryFolder(), 'state')
    using ours = acquireLock(directory)
    expect(ours).not.toBe(null)
    chmodSync(directory, 0o000)

    const stranger = child(`${becomeNobody()}
      try {
        console.log(lock.isLocked(${JSON.stringify(directory)}))
      } catch (error) {
        console.log(errorCode(error), error.message)
      }`)

    const answer = await stranger.line()
    chmodSync(directory, 0o755)
    expect(answer).toContain('EACCES')
  })

  it('is free where no daemon ever ran, and asking makes no file', () => {
    const directory = join(temporaryFolder(), 'state')

    expect(isLocked(directory)).toBe(false)
    expect(() => statSync(directory)).toThrow('ENOENT')
  })

  it('makes its directory, and a file that a group may read', () => {
    const directory = join(temporaryFolder(), 'state')

    using lock = acquireLock(directory)

    expect(lock).not.toBe(null)
    expect(statSync(directory).mode & 0o777).toBe(0o750)
    expect(statSync(join(directory, 'daemon.lock')).mode & 0o777).toBe(0o640)
  })

  it.each([
    ['the directory is a file', 78, (path: string) => writeFileSync(path, '')],
    [
      'the lock is a directory',
      75,
      (path: string) => mkdirSync(join(path, 'daemon.lock'), { recursive: true }),
    ],
  ])('says why it cannot be taken when %s: exit %i', (_, exitCode, prepare) => {
    const directory = join(temporaryFolder(), 'state')
    prepare(directory)

    let thrown: unknown
    try {
      acquireLock(directory)
    } catch (error) {
      thrown = error
    }

    expect(thrown).toBeInstanceOf(FeedsyncError)
    expect((thrown as FeedsyncError).exitCode).toBe(exitCode)
    expect(errorCode(thrown)).toMatch(/EEXIST|ENOTDIR|SQLITE_CANTOPEN/)
  })
})
