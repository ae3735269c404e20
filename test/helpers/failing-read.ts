// Preloaded into a daemon (`--import`): once the file that FEEDSYNCD_FAIL_READ names exists, the next read of the
// database whose SQL contains the text of this file fails, as on a disk with errors. Then the file is removed.

import { existsSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isMainThread } from 'node:worker_threads'

const { FEEDSYNCD_FAIL_READ: file = '' } = process.env

if (isMainThread) {
  const Database = createRequire(import.meta.url)('better-sqlite3')
  const memory = new Database(':memory:')
  const statement = Object.getPrototypeOf(memory.prepare('SELECT 1'))
  memory.close()
  const { get } = statement
  statement.get = function (...parameters: unknown[]) {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    if (text !== '' && this.source.includes(text)) {
      rmSync(file)
      throw new Database.SqliteError('a test lets this read fail', 'SQLITE_IOERR_READ')
    }
    return get.apply(this, parameters)
  }
}
