// Owns the end of a file in the folder: kept, archived, quarantined or deleted, and its receipt. Only
// the very bytes that were taken are moved. A look before a move proves nothing about the moment of
// the move, so the file is first taken out of everyone's reach by a rename, and then looked at.

import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, mkdir, rename, rm, unlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Clock, isoTime } from '../lib/clock.ts'
import { errorCode, messageOf } from '../lib/errors.ts'
import { identityOf, sameBytes, sameIdentity } from '../lib/file-identity.ts'
import { moveExclusively, stampedName } from './exclusive-move.ts'
import type { Disposed, Disposition, Dispositions, Receipt, Sighting } from './port.ts'

export interface DispositionOptions {
  /** Absolute paths. */
  directory: string
  archiveDirectory: string
  quarantineDirectory: string
  clock: Clock
}

/** `.jobs.xml.0a1b2c3d4e5f.taken`: a dot name, so no listing takes it for a feed. */
const TAKEN = /^\.(?<name>.+)\.[0-9a-f]{12}\.taken$/s

/** A receipt that was being written. */
const DRAFT = /^\.[0-9a-f]{12}\.receipt\.tmp$/

/** A folder that fills up within one millisecond is not worth more names. */
const MOST_NAMES = 1000

export function createDispositions(options: DispositionOptions): Dispositions {
  return new Disposer(options)
}

class Disposer implements Dispositions {
  readonly #options: DispositionOptions
  /** What is half moved or half written on purpose. */
  readonly #inHand = new Set<string>()

  constructor(options: DispositionOptions) {
    this.#options = options
  }

  async dispose(disposition: Disposition, { path, identity }: Sighting): Promise<Disposed> {
    const source = join(this.#options.directory, path)
    const taken = join(dirname(source), takenName(basename(source)))
    this.#inHand.add(taken)
    try {
      const before = identityOf(await lstat(source, { bigint: true }))
      if (!sameIdentity(before, identity)) return { kind: 'changed' }
      await rename(source, taken)
      // The rename itself changes ctime, so that alone is left out of the second look.
      const isOurs = sameBytes(identityOf(await lstat(taken, { bigint: true })), identity)
      if (!isOurs) return await this.#giveBack(taken, source, { kind: 'changed' })
      return await this.#finish(disposition, taken, path).catch((error) =>
        this.#giveBack(taken, source, problem(error, `${disposition} ${path}`)),
      )
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return { kind: 'missing' }
      return problem(error, `${disposition} ${path}`)
    } finally {
      this.#inHand.delete(taken)
    }
  }

  async writeReceipt(receipt: Receipt): Promise<Disposed> {
    const target = join(this.#options.directory, `${receipt.file}.receipt.json`)
    const draft = join(dirname(target), `.${randomBytes(6).toString('hex')}.receipt.tmp`)
    this.#inHand.add(draft)
    try {
      await writeFile(draft, `${JSON.stringify(receipt, null, 2)}\n`, { flag: 'wx', flush: true })
      await rename(draft, target)
      return { kind: 'done', to: target }
    } catch (error) {
      await rm(draft, { force: true })
      return problem(error, `write the receipt of ${receipt.file}`)
    } finally {
      this.#inHand.delete(draft)
    }
  }

  async recover(
    temporary: readonly { path: string }[],
    isPast: (path: string, sha256: string) => boolean,
  ): Promise<string[]> {
    const back: string[] = []
    for (const { path } of temporary) {
      const name = TAKEN.exec(basename(path))?.groups?.name
      const taken = join(this.#options.directory, path)
      if (this.#inHand.has(taken)) continue
      if (DRAFT.test(basename(path))) await rm(taken, { force: true }).catch(() => undefined)
      if (name === undefined) continue
      const original = join(dirname(path), name)
      try {
        if (isPast(original, await sha256Of(taken))) await this.#finish('archive', taken, original)
        else {
          // A newer file may have taken the name since: this one stays until that one was read.
          await moveExclusively(taken, join(this.#options.directory, original))
          back.push(original)
        }
      } catch {
        // It is looked at again with the next listing.
      }
    }
    return back
  }

  async #finish(disposition: Disposition, taken: string, path: string): Promise<Disposed> {
    const { archiveDirectory, clock, quarantineDirectory } = this.#options
    if (disposition === 'delete') {
      await unlink(taken)
      return { kind: 'done', to: null }
    }
    const root = disposition === 'archive' ? archiveDirectory : quarantineDirectory
    const folder = join(root, dirname(path))
    await mkdir(folder, { recursive: true })
    const time = isoTime(clock.now()) ?? ''
    for (let counter = 0; ; counter++) {
      const to = join(folder, stampedName(basename(path), time, counter))
      try {
        await moveExclusively(taken, to)
        return { kind: 'done', to }
      } catch (error) {
        if (errorCode(error) !== 'EEXIST' || counter === MOST_NAMES) throw error
      }
    }
  }

  async #giveBack(taken: string, source: string, outcome: Disposed): Promise<Disposed> {
    try {
      await moveExclusively(taken, source)
      return outcome
    } catch (error) {
      const code = errorCode(error) ?? 'UNKNOWN'
      const reason = `${basename(source)} could not be put back (${code}): it is kept beside it as ${basename(taken)}`
      return { kind: 'problem', code, reason, hint: 'move it where it belongs, by hand' }
    }
  }
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

/** A name too long to be carried along cannot be recovered by name, but never gets lost. */
function takenName(name: string): string {
  const token = randomBytes(6).toString('hex')
  const full = `.${name}.${token}.taken`
  return Buffer.byteLength(full) <= 255 ? full : `.${token}.taken`
}

const HINTS: Record<string, string> = {
  ENOSPC: 'make room on the disk of the archive',
  EROFS: 'mount the folder writable, or set afterUpload and afterReject to keep',
  EACCES: 'let the daemon’s user write into the folder and the archive',
  EPERM: 'let the daemon’s user write into the folder and the archive',
  ENAMETOOLONG: 'use shorter file names',
}

function problem(error: unknown, what: string): Disposed {
  const code = errorCode(error) ?? 'UNKNOWN'
  const reason = `${what}: ${code === 'UNKNOWN' ? messageOf(error) : code}`
  return { kind: 'problem', code, reason, hint: HINTS[code] ?? 'look into the system’s log' }
}
