// Owns the detection of a database that was restored from a copy, and its effects. A small file beside the database
// holds a random text, which changes at each start of the daemon and before campaigns are created. The database
// remembers that text and the file's inode and ctime. A disk that moves to another host keeps all three. A copied file
// has another inode, and a database that was restored alone remembers another text.

import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Connection, syncDirectory } from './connection.ts'
import { fileError } from './database-error.ts'
import { notes } from './notes.ts'

const MARK = 'state-mark'
const RESTORED = 'state-restored'
const MADE = 'state-made'

interface Mark {
  text: string
  /** Inode and ctime of the file; null: the file was not written yet. */
  file: string | null
}

export type StateMark = ReturnType<typeof stateMark>

/** stateMark returns the mark of a database. `file` is the path of the database. */
export function stateMark(connection: Connection, file: string) {
  const { note, setNote } = notes(connection)
  const path = `${file}.mark`
  const known = () => JSON.parse(note(MARK) ?? '[]') as Mark[]
  const time = (name: string) => {
    const text = note(name)
    return text === null ? null : Number(text)
  }
  const isCopy = () => {
    const [seen, all] = [markAt(path), known()]
    const matches = (one: Mark) =>
      one.text === seen?.text && (one.file === null || one.file === seen.file)
    return all.length > 0 && !all.some(matches)
  }
  return {
    /**
     * restoredAt returns the wall ms at which the daemon found that the database is a copy from an earlier moment, or
     * null when it is not a copy. Throws `FeedsyncError` when the mark cannot be read.
     */
    restoredAt: (now: number): number | null => (isCopy() ? now : time(RESTORED)),
    /** madeAt returns the wall ms of the first mark, or null when the database was never marked. */
    madeAt: () => time(MADE),
    /**
     * renew records whether the database is a copy, together with the writes of `onCopy` in that case, and changes the
     * mark. It is durable when it returns. Throws `FeedsyncError` when the mark cannot be written.
     */
    renew: (now: number, onCopy = () => {}): void => {
      const text = randomUUID()
      connection.atomically(() => {
        if (isCopy()) {
          setNote(RESTORED, String(now))
          // The copy does not know what was sent after it was made, so each targeting is sent once more.
          connection.run('UPDATE campaign_bindings SET repeat_at = ? WHERE released = 0', now)
          onCopy()
        }
        if (time(MADE) === null) setNote(MADE, String(now))
        // A process that dies between the two transactions leaves the old file or the new one: both texts are known.
        setNote(MARK, JSON.stringify([...known(), { text, file: null }]))
      })
      connection.atomically(() => {
        write(path, text)
        setNote(MARK, JSON.stringify([markAt(path)]))
      })
    },
  }
}

/** markAt reads the mark at a path, or returns null when there is no file. */
function markAt(path: string): Mark | null {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (stats === undefined) return null
    return { text: readFileSync(path, 'utf8'), file: `${stats.ino} ${stats.ctimeNs}` }
  } catch (error) {
    throw fileError(error, path)
  }
}

function write(path: string, text: string): void {
  try {
    const handle = openSync(path, 'w', 0o600)
    try {
      writeSync(handle, Buffer.from(text))
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    syncDirectory(dirname(path))
  } catch (error) {
    throw fileError(error, path)
  }
}
