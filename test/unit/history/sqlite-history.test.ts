import { chmodSync, existsSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openHistory } from '../../../src/history/sqlite-history.ts'
import { openHistoryReader } from '../../../src/history/tables.ts'
import { becomeNobody, child } from '../../helpers/history/child.ts'
import { temporaryFolder } from '../../helpers/history/temporary.ts'

const STEP = `
  const at = 1000
  const add = (feed) => h.add({ feed, path: feed, account: null, state: 'settling', reason: null, at })`

/** killed runs a script on a history in a process that kills itself with SIGKILL at the end. */
async function killed(file: string, script: string): Promise<void> {
  const run = child(`
    const h = history.openHistory({ file: ${JSON.stringify(file)} })
    ${STEP}
    ${script}
    process.kill(process.pid, 'SIGKILL')`)
  await run.ended()
  expect(run.process.signalCode).toBe('SIGKILL')
}

/** readWithoutWriting returns the output of a reader that may read the folder and the file, but not write. */
async function readWithoutWriting(file: string): Promise<string> {
  for (const name of [file, `${file}-wal`, `${file}-shm`])
    if (existsSync(name)) chmodSync(name, 0o644)
  chmodSync(dirname(file), 0o555)
  const run = child(`${becomeNobody()}
    try {
      using reader = openHistoryReader({ file: ${JSON.stringify(file)} })
      console.log(reader.list({}).map(({ feed }) => feed).join())
    } catch (error) {
      console.log(errorCode(error), error.message)
    }`)
  const answer = await run.line()
  chmodSync(dirname(file), 0o755)
  return answer
}

describe('SIGKILL', () => {
  it('inside a transaction leaves no part of it', async () => {
    const file = join(temporaryFolder(), 'history.db')

    await killed(
      file,
      `add('before')
       h.atomically(() => {
         add('inside')
         h.move(1, 'checking', { at })
         process.kill(process.pid, 'SIGKILL')
       })`,
    )

    using history = openHistory({ file })
    expect(history.list({}).map(({ feed, state }) => [feed, state])).toEqual([
      ['before', 'settling'],
    ])
    expect(history.events(1).length).toBe(1)
  })

  it('right after a call has returned loses none of its writes', async () => {
    const file = join(temporaryFolder(), 'history.db')

    await killed(
      file,
      `add('acme')
       h.move(1, 'checking', { at })
       h.move(1, 'queued', { at, patch: { sha256: 'a' } })
       h.move(1, 'uploading', { at })
       h.startAttempt(1, at, 'a/1.xml')`,
    )

    using history = openHistory({ file })
    expect(history.attempts(1)).toMatchObject([{ outcome: null, key: 'a/1.xml' }])
    expect(history.version(1)).toMatchObject({ state: 'uploading', sha256: 'a' })
  })

  it('leaves a database that a reader can read without repair', async () => {
    const file = join(temporaryFolder(), 'history.db')
    await killed(file, `add('acme')`)

    using reader = openHistoryReader({ file })

    expect(existsSync(`${file}-wal`)).toBe(true)
    expect(reader?.list({}).map(({ feed }) => feed)).toEqual(['acme'])
  })
})

describe('a user who may read but not write', () => {
  const closed = () => {
    const folder = temporaryFolder()
    chmodSync(folder, 0o755)
    const file = join(folder, 'state', 'history.db')
    const history = openHistory({ file })
    history.add({ feed: 'acme', path: 'a', account: null, state: 'settling', reason: null, at: 1 })
    return { file, history }
  }

  it('reads while the daemon runs', async () => {
    const { file, history } = closed()

    const answer = await readWithoutWriting(file)

    history[Symbol.dispose]()
    expect(answer).toBe('acme')
  })

  it('reads after the daemon has stopped', async () => {
    const { file, history } = closed()
    history[Symbol.dispose]()

    expect(await readWithoutWriting(file)).toBe('acme')
  })

  it('reads after the daemon was killed', async () => {
    const { file, history } = closed()
    history[Symbol.dispose]()
    await killed(file, `add('later')`)

    expect(await readWithoutWriting(file)).toBe('later,acme')
  })

  it('gets an error instead of half the history when the WAL cannot be read', async () => {
    const { file, history } = closed()
    history[Symbol.dispose]()
    await killed(file, `add('later')`)
    rmSync(`${file}-shm`)

    expect(await readWithoutWriting(file)).toContain(`${file} cannot be opened`)
  })
})
