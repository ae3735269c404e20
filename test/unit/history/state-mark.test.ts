import { copyFileSync, cpSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openCampaignStore } from '../../../src/campaigns/store.ts'
import { openWritable } from '../../../src/history/connection.ts'
import { stateMark } from '../../../src/history/state-mark.ts'
import { memoryFolder } from '../../helpers/memory-folder.ts'

const AT = Date.UTC(2027, 0, 4)

function newFile(): string {
  const root = memoryFolder('mark-')
  onTestFinished(() => rmSync(root, { recursive: true }))
  return join(root, 'state', 'feedsyncd.db')
}

/** start opens and closes the database as a writer, and returns what it knows about restores. */
function start(file: string, now = AT) {
  using store = openCampaignStore({ file, account: '123', now: () => now })
  const seen = store.restoredAt()
  store.renewMark()
  return { seen, kept: store.restoredAt(), madeAt: store.madeAt() }
}

describe('the mark of the state', () => {
  it('finds no restore after normal starts, and knows when the database was made', () => {
    const file = newFile()
    start(file)

    expect(start(file, AT + 5)).toEqual({ seen: null, kept: null, madeAt: AT })
  })

  it('detects a database that was restored alone, also after the next start', () => {
    const file = newFile()
    start(file)
    copyFileSync(file, `${file}.backup`)
    start(file)
    copyFileSync(`${file}.backup`, file)

    expect(start(file, AT + 5)).toMatchObject({ seen: AT + 5, kept: AT + 5 })
    expect(start(file, AT + 9)).toMatchObject({ seen: AT + 5, kept: AT + 5 })
  })

  it('detects a directory that was copied, but not one that was moved', () => {
    const file = newFile()
    start(file)
    const [copy, moved] = [`${dirname(file)}.copy`, `${dirname(file)}.moved`]
    cpSync(dirname(file), copy, { recursive: true, preserveTimestamps: true })
    renameSync(dirname(file), moved)
    const name = file.slice(dirname(file).length)

    expect(start(join(copy, name), AT + 5)).toMatchObject({ seen: AT + 5 })
    expect(start(join(moved, name), AT + 5)).toMatchObject({ seen: null })
  })

  it('finds no restore after a kill between the write to the database and to the file', () => {
    const file = newFile()
    start(file)
    {
      using connection = openWritable(file)
      const atomically = connection.atomically.bind(connection)
      let calls = 0
      connection.atomically = (work) => {
        if (++calls === 2) throw new Error('killed')
        return atomically(work)
      }
      expect(() => stateMark(connection, file).renew(AT)).toThrow('killed')
    }

    expect(start(file, AT + 5)).toMatchObject({ seen: null, kept: null })
  })
})
