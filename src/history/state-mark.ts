// Owns the detection of a database that was restored from a copy, and its effects. A small file beside the database
// holds a random text, which changes at each start of the daemon and before campaigns are created. The database
// remembers that text and the file's inode and ctime. A disk that moves to another host keeps all three. A copied file
// has another inode, and a database that was restored alone remembers another text.

import { randomUUID } from 'node:crypto'
import {
  type BigIntStats,
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { type Connection, syncDirectory } from './connection.ts'
import { fileError } from './database-error.ts'

interface Mark {
  text: string
  /** Inode and ctime of the file; both are null if the file was not written yet. */
  ino: string | null
  ctimeNs: string | null
}

export type StateMark = ReturnType<typeof stateMark>

/** stateMark returns the mark of a database. `file` is the path of the database. */
export function stateMark(connection: Connection, file: string) {
  const path = `${file}.mark`
  const add = (mark: Mark) =>
    connection.run('REPLACE INTO state_marks VALUES (@text, @ino, @ctimeNs)', mark)
  const isCopy = () => {
    const seen = markAt(path)
    const all = connection.rows<Mark>('SELECT text, ino, ctime_ns AS ctimeNs FROM state_marks')
    const matches = ({ text, ino, ctimeNs }: Mark) =>
      text === seen?.text && (ino === null || (ino === seen.ino && ctimeNs === seen.ctimeNs))
    return all.length > 0 && !all.some(matches)
  }
  return {
    /**
     * restoredAt returns the wall ms at which the daemon found that the database is a copy from an earlier moment:
     * `now` if no start of the daemon has recorded this yet. Returns null when the database was never a copy. Throws
     * `FeedsyncError` when the mark cannot be read.
     */
    restoredAt: (now: number): number | null =>
      isCopy() ? now : connection.value('SELECT restored_at FROM settings'),
    /** madeAt returns the wall ms of the first mark, or null when the database was never marked. */
    madeAt: () => connection.value<number>('SELECT marked_at FROM settings'),
    /**
     * renew changes the mark. If the database is a copy, it also records `now` (wall ms) as the time of the restore,
     * has all targetings of the campaigns sent once more, and runs `onCopy` in the same transaction. All of this is
     * durable when it returns. Throws `FeedsyncError` when the mark cannot be read or written.
     */
    renew: (now: number, onCopy = () => {}): void => {
      const text = randomUUID()
      connection.atomically(() => {
        if (isCopy()) {
          connection.run('UPDATE settings SET restored_at = ?', now)
          // The copy does not know what was sent after it was made, so each targeting is sent once more.
          connection.run('UPDATE campaign_bindings SET repeat_at = ? WHERE released = 0', now)
          onCopy()
        }
        connection.run('UPDATE settings SET marked_at = ? WHERE marked_at IS NULL', now)
        // A crash between the two transactions leaves the old file or the new file. The table has the texts of both.
        add({ text, ino: null, ctimeNs: null })
      })
      connection.atomically(() => {
        const mark = writeMark(path, text)
        connection.run('DELETE FROM state_marks')
        add(mark)
      })
    },
  }
}

/** markAt reads the mark at a path, or returns null when there is no file. */
function markAt(path: string): Mark | null {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (stats === undefined) return null
    return markOf(readFileSync(path, 'utf8'), stats)
  } catch (error) {
    throw fileError(error, path)
  }
}

const markOf = (text: string, { ino, ctimeNs }: Pick<BigIntStats, 'ino' | 'ctimeNs'>): Mark => ({
  text,
  ino: String(ino),
  ctimeNs: String(ctimeNs),
})

/** writeMark writes the file of the mark, durably, and returns the mark. */
function writeMark(path: string, text: string): Mark {
  try {
    const handle = openSync(path, 'w', 0o600)
    try {
      writeSync(handle, Buffer.from(text))
      fsyncSync(handle)
      syncDirectory(dirname(path))
      return markOf(text, fstatSync(handle, { bigint: true }))
    } finally {
      closeSync(handle)
    }
  } catch (error) {
    throw fileError(error, path)
  }
}
