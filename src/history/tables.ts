// Composes what is asked and written over one connection, port by port. Nothing is prepared before it is used.

import { attempts } from './attempts.ts'
import type { Connection } from './connection.ts'
import { files } from './files.ts'
import { notes } from './notes.ts'
import type { History, Transactions } from './port.ts'
import { requests } from './requests.ts'
import { schedule } from './schedule.ts'
import { versionReads } from './version-reads.ts'
import { versionWrites } from './version-writes.ts'

export type Tables = Omit<History, keyof Transactions | keyof Disposable | 'prune'>

export function tables(db: Connection): Tables {
  const reads = versionReads(db)
  const writes = versionWrites(db, reads)
  return {
    ...{ ...reads, ...writes, ...schedule(db, reads) },
    ...{ ...attempts(db, writes), ...files(db, reads), ...requests(db), ...notes(db) },
  }
}
