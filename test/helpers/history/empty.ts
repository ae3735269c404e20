import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openHistory } from '../../../src/history/sqlite-history.ts'
import { memoryFolder } from '../memory-folder.ts'

let empty: Buffer | null = null

/** putEmptyHistory copies an empty history to this path, which is much faster than the migrations. */
export function putEmptyHistory(file: string): void {
  empty ??= makeEmpty()
  mkdirSync(dirname(file), { recursive: true, mode: 0o750 })
  writeFileSync(file, empty, { mode: 0o640, flag: 'wx' })
}

function makeEmpty(): Buffer {
  const folder = memoryFolder('history-')
  try {
    const file = join(folder, 'empty.db')
    openHistory({ file })[Symbol.dispose]()
    return readFileSync(file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
