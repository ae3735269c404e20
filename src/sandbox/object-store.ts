// The objects on disk. An object is visible only once it was received completely: it is written to a folder beside,
// hashed as it comes, and renamed. No key leads out of the directory.

import { createHash, type Hash } from 'node:crypto'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export interface StoredObject {
  readonly key: string
  readonly bytes: number
  readonly sha256: string
  readonly md5: string
  /** Wall ms. */
  readonly receivedAt: number
  /** The account that the form was issued to. */
  readonly account: string | null
  /** How often the key was written: more than once means that a client sent the same form again. */
  readonly writes: number
  /** Absolute path of the bytes. */
  readonly path: string
}

/** No key can name this folder: names in the directory never begin with a dot (`safeSegment`). */
const PARTIAL = '.partial'
const LONGEST_SEGMENT = 200

export class ObjectStore {
  readonly #directory: string
  readonly #objects = new Map<string, StoredObject>()
  #incoming = 0

  private constructor(directory: string) {
    this.#directory = directory
  }

  /** Removes what an earlier sandbox left half-written; its objects stay on disk and are not listed. */
  static async open(directory: string): Promise<ObjectStore> {
    await rm(join(directory, PARTIAL), { recursive: true, force: true })
    await mkdir(join(directory, PARTIAL), { recursive: true })
    return new ObjectStore(directory)
  }

  /** Newest state of each key, in the order in which the keys came. */
  list(): StoredObject[] {
    return [...this.#objects.values()]
  }

  async receive(): Promise<IncomingObject> {
    const path = join(this.#directory, PARTIAL, String(++this.#incoming))
    return new IncomingObject(await open(path, 'wx'), path)
  }

  async commit(
    incoming: IncomingObject,
    facts: { key: string; account: string | null; receivedAt: number },
  ): Promise<StoredObject> {
    const path = join(this.#directory, ...facts.key.split('/').map(safeSegment))
    const digest = await incoming.finish()
    await mkdir(dirname(path), { recursive: true })
    await rename(incoming.path, path)
    const writes = (this.#objects.get(facts.key)?.writes ?? 0) + 1
    const object = { ...facts, ...digest, writes, path }
    this.#objects.set(facts.key, object)
    return object
  }
}

export class IncomingObject {
  readonly path: string
  readonly #file: FileHandle
  readonly #sha256: Hash = createHash('sha256')
  readonly #md5: Hash = createHash('md5')
  #bytes = 0

  constructor(file: FileHandle, path: string) {
    this.#file = file
    this.path = path
  }

  async write(bytes: Buffer): Promise<void> {
    this.#sha256.update(bytes)
    this.#md5.update(bytes)
    this.#bytes += bytes.length
    await this.#file.writeFile(bytes)
  }

  async finish() {
    await this.#file.close()
    const [sha256, md5] = [this.#sha256.digest('hex'), this.#md5.digest('hex')]
    return { bytes: this.#bytes, sha256, md5 }
  }

  /** Leaves nothing behind. */
  async discard() {
    const digest = await this.finish()
    await rm(this.path, { force: true })
    return digest
  }
}

function safeSegment(segment: string): string {
  const safe = encodeURIComponent(segment).replace(/^\.+/, (dots) => dots.replaceAll('.', '%2E'))
  if (safe === '') return '%'
  if (safe.length <= LONGEST_SEGMENT) return safe
  return `${safe.slice(0, 100)}~${createHash('sha256').update(segment).digest('hex')}`
}
