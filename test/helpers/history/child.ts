// Child processes for the tests of the history.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from './temporary.ts'

export const SOURCE = join(import.meta.dirname, '../../../src/history')

export interface Child {
  process: ChildProcess
  /** line returns the next line of stdout. Throws with the text of stderr if the child ends instead. */
  line(): Promise<string>
  ended(): Promise<void>
}

/** becomeNobody returns code that gives up root's rights. Before that, it takes a lock, which loads the library. */
export function becomeNobody(): string {
  return `
    if (process.getuid() === 0) {
      lock.acquireLock(${JSON.stringify(temporaryFolder())})[Symbol.dispose]()
      process.setgid(65534)
      process.setuid(65534)
    }`
}

/** child runs the text of a module in a child process, with `history`, `openHistoryReader` and `lock` imported. */
export function child(script: string): Child {
  const text = `
    import * as history from '${SOURCE}/sqlite-history.ts'
    import { openHistoryReader } from '${SOURCE}/tables.ts'
    import * as lock from '${SOURCE}/instance-lock.ts'
    import { errorCode } from '${SOURCE}/../lib/errors.ts'
    ${script}`
  const running = spawn(process.execPath, ['--input-type=module', '-e', text], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const exited = once(running, 'exit')
  onTestFinished(async () => {
    running.kill('SIGKILL')
    await exited
  })
  let errors = ''
  running.stderr.on('data', (data) => {
    errors += data
  })
  const lines = createInterface({ input: running.stdout })[Symbol.asyncIterator]()
  return {
    process: running,
    line: async () => {
      const { value, done } = await lines.next()
      if (done) throw new Error(`the child ended without an answer: ${errors}`)
      return value
    },
    ended: async () => {
      await exited
    },
  }
}
