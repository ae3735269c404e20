// Preloaded into a daemon (`--import`): once the file that FEEDSYNCD_FAIL_FILE names exists, each kind of write to the
// database fails the first time, with the code in the file, such as SQLITE_FULL. The first commit of each set of writes
// fails, too. FEEDSYNCD_FAIL_ONLY limits the failures to one kind. The file that FEEDSYNCD_FAIL_LOG names gets one line
// for each failure.

import { appendFileSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isMainThread } from 'node:worker_threads'

const { FEEDSYNCD_FAIL_FILE = '', FEEDSYNCD_FAIL_LOG = '', FEEDSYNCD_FAIL_ONLY } = process.env
const failed = new Set<string>()

function failOnce(kind: string): void {
  const code = codeNow()
  if (code === null || failed.has(kind)) return
  if (FEEDSYNCD_FAIL_ONLY !== undefined && kind !== FEEDSYNCD_FAIL_ONLY) return
  failed.add(kind)
  appendFileSync(FEEDSYNCD_FAIL_LOG, `${kind}\n`)
  throw new Database.SqliteError(`a test lets this write fail (${code})`, code)
}

function codeNow(): string | null {
  try {
    return readFileSync(FEEDSYNCD_FAIL_FILE, 'utf8')
  } catch {
    return null
  }
}

const Database = createRequire(import.meta.url)('better-sqlite3')

if (isMainThread) {
  const memory = new Database(':memory:')
  const statement = Object.getPrototypeOf(memory.prepare('SELECT 1'))
  memory.close()
  let written: string[] = []
  const { run } = statement
  statement.run = function (...parameters: unknown[]) {
    const sql: string = this.source.trim()
    if (sql === 'COMMIT') {
      const kind = `commit of ${[...new Set(written)].join(', ')}`
      written = []
      failOnce(kind)
    } else if (/^(INSERT|REPLACE|UPDATE|DELETE)/.test(sql)) {
      const kind = kindOf(sql, parameters)
      written.push(kind)
      failOnce(kind)
    } else if (/^BEGIN/.test(sql)) written = []
    return run.apply(this, parameters)
  }
}

function kindOf(sql: string, parameters: unknown[]): string {
  const table = /^(?:INSERT INTO|REPLACE INTO|UPDATE|DELETE FROM) (\w+)/.exec(sql)?.[1] ?? ''
  const verb = sql.slice(0, sql.indexOf(' ')).toLowerCase()
  if (table !== 'events' || verb !== 'insert') return `${verb} ${table}`
  const [{ from, to }] = parameters as [{ from: string | null; to: string }]
  return `event ${from ?? 'new'} to ${to}`
}
