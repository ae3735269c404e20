// Owns how a database that was put back from a copy is recognised, and what follows for all who use it. A small file
// beside it holds a random text, which changes at each start of the daemon and before creates of campaigns. The database remembers that text, and the file's
// inode and ctime. A disk that moves to another host keeps all of it; a copied file has another inode, and a database
// that was put back alone knows another text.

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
  /** Inode and ctime of the file; null: it was about to be written. */
  file: string | null
}

export type StateMark = ReturnType<typeof stateMark>

/** `file`: of the database. */
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
     * Wall ms when it came to light that the database is a copy from an earlier moment; null: it is none. Throws
     * `FeedsyncError` where the mark cannot be read.
     */
    restoredAt: (now: number): number | null => (isCopy() ? now : time(RESTORED)),
    /** Wall ms when the database was marked first; null: it never was. */
    madeAt: () => time(MADE),
    /**
     * Writes down whether the database is a copy, with what `onCopy` writes then, and changes the mark. Durable when it
     * returns. Throws `FeedsyncError` where the mark cannot be written.
     */
    renew: (now: number, onCopy = () => {}): void => {
      const text = randomUUID()
      connection.atomically(() => {
        if (isCopy()) {
          setNote(RESTORED, String(now))
          // What was sent since the copy was made is forgotten: each targeting is sent once more.
          connection.run('UPDATE campaign_bindings SET repeat_at = ? WHERE released = 0', now)
          onCopy()
        }
        if (time(MADE) === null) setNote(MADE, String(now))
        // A process that dies between the two transactions leaves the one mark or the other.
        setNote(MARK, JSON.stringify([...known(), { text, file: null }]))
      })
      connection.atomically(() => {
        write(path, text)
        setNote(MARK, JSON.stringify([markAt(path)]))
      })
    },
  }
}

/** null: there is no file. */
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
