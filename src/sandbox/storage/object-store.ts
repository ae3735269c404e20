// The object store writes an object into the folder `.partial` and hashes it as it arrives. When the object is
// complete, a rename gives it the path of its key. No key leads out of the directory.

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { SandboxDatabase } from '../database.ts'
import type { ReceivedObject, StoredObject } from '../records.ts'

export interface ObjectStore {
  /** list returns the newest object of each key, in the order in which the keys first arrived. */
  list(): StoredObject[]
  find(key: string): StoredObject | null
  /** remove deletes the objects of an account and their files. Null stands for all objects. */
  remove(account: string | null): Promise<void>
  /** receive opens a file for an object that arrives. Its disposal removes the file unless it was committed. */
  receive(): Promise<IncomingObject>
}

export interface IncomingObject extends AsyncDisposable {
  write(piece: Buffer): Promise<void>
  /** digest returns the size in bytes and the hashes in hex. It can be called once, after the last `write`. */
  digest(): { bytes: number; sha256: string; md5: string }
  /**
   * commit makes the file the newest object of its key. An older file of this key stays until the new object is saved.
   */
  commit(received: ReceivedObject): Promise<void>
}

/** PARTIAL is the directory of unfinished files. No file name of a key begins with a dot (see `safeSegment`). */
const PARTIAL = '.partial'
/** LONGEST_SEGMENT is in characters. Only a longer segment of a key is shortened and gets a hash. */
const LONGEST_SEGMENT = 200

/**
 * openStore opens the objects in a directory. It leaves out objects whose files are gone (their rows stay), and empties
 * the directory of unfinished files.
 */
export async function openStore(
  directory: string,
  database: SandboxDatabase,
): Promise<ObjectStore> {
  const known = database.objects().filter(({ path }) => existsSync(path))
  const objects = new Map(known.map((object) => [object.key, object]))
  let count = 0
  await rm(join(directory, PARTIAL), { recursive: true, force: true })
  await mkdir(join(directory, PARTIAL), { recursive: true })

  return {
    list: () => [...objects.values()],

    find: (key) => objects.get(key) ?? null,

    async remove(account) {
      const gone = [...objects.values()].filter(
        (one) => account === null || one.account === account,
      )
      database.deleteObjects(gone.map(({ key }) => key))
      for (const { key } of gone) objects.delete(key)
      for (const { path } of gone) await rm(path, { force: true })
    },

    async receive() {
      const partial = join(directory, PARTIAL, String(++count))
      const file = await open(partial, 'wx')
      const [sha256, md5] = [createHash('sha256'), createHash('md5')]
      let bytes = 0
      return {
        async write(piece) {
          sha256.update(piece)
          md5.update(piece)
          bytes += piece.length
          await file.writeFile(piece)
        },
        digest: () => ({ bytes, sha256: sha256.digest('hex'), md5: md5.digest('hex') }),
        async commit(received) {
          const { key } = received
          const old = objects.get(key)
          const writes = (old?.writes ?? 0) + 1
          const name = join(directory, ...key.split('/').map(safeSegment))
          // No other key can have this path, because `%~` never comes from the encoding of a key.
          const path = writes === 1 ? name : `${name}%~${writes}`
          await file.close()
          await mkdir(dirname(path), { recursive: true })
          await rename(partial, path)
          const object = { ...received, writes, path, written: database.nextNumber('last write') }
          database.saveObject(object)
          objects.set(key, object)
          if (old !== undefined) await rm(old.path, { force: true })
        },
        async [Symbol.asyncDispose]() {
          await file.close()
          await rm(partial, { force: true })
        },
      }
    },
  }
}

/**
 * safeSegment turns a segment of a key into a file name that is not empty, does not begin with a dot and is not too
 * long. Different segments get different names.
 */
function safeSegment(segment: string): string {
  const safe = encodeURIComponent(segment).replace(/^\.+/, (dots) => dots.replaceAll('.', '%2E'))
  if (safe === '') return '%'
  if (safe.length <= LONGEST_SEGMENT) return safe
  return `${safe.slice(0, 100)}~${createHash('sha256').update(segment).digest('hex')}`
}
