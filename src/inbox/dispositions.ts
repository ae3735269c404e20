// Archives, quarantines or deletes a file of the folder, and writes its receipt. Only a file with the bytes that the
// daemon took leaves the folder. A check before a move proves nothing about the moment of the move, so the file
// first gets a temporary name, under which nobody else writes to it, and is checked there.

import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { lstat, open, rename, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { Departure } from '../domain/departure.ts'
import { isPacked } from '../domain/packing.ts'
import { stampedName } from '../domain/stamped-name.ts'
import { OpenDirectory, READ_FLAGS } from '../lib/beneath.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { type ErrnoSubject, errnoText, isMissing } from '../lib/errno.ts'
import { errorCode } from '../lib/errors.ts'
import { type FileIdentity, identityOf, isUnchanged, sameIdentity } from '../lib/files.ts'
import { moveExclusively } from './exclusive-move.ts'
import type { DisposalProblem, Disposed, Receipt } from './port.ts'

/** MOST_NAMES limits the tries to find a free name within one millisecond. */
const MOST_NAMES = 1000
/** MOST_RECEIPT is many times the size of the largest receipt, in bytes. */
const MOST_RECEIPT = 2 ** 20

/** Dispositions is the only writer into the vendor's folder, and writes only what the configuration asks for. */
export class Dispositions {
  readonly #directory: string
  readonly #archiveDirectory: string
  readonly #quarantineDirectory: string
  readonly #clock: Clock

  constructor({
    archiveDirectory,
    clock,
    directory,
    quarantineDirectory,
  }: {
    /** The directories are absolute paths. */
    directory: string
    archiveDirectory: string
    quarantineDirectory: string
    clock: Clock
  }) {
    this.#directory = directory
    this.#archiveDirectory = archiveDirectory
    this.#quarantineDirectory = quarantineDirectory
    this.#clock = clock
  }

  /** dispose moves or deletes the file if it still has the `identity`. It overwrites no file and never rejects. */
  async dispose(departure: Departure): Promise<Disposed> {
    const { disposition, path, identity } = departure
    try {
      using folder = await this.#folderOf(path)
      const source = folder.entry(basename(path))
      const before = identityOf(await lstat(source, { bigint: true }))
      if (!sameIdentity(before, identity)) return { kind: 'changed' }
      if (disposition !== 'delete') await this.#refuseInbox(this.#rootOf(disposition))
      await rename(source, folder.entry(takenName(departure)))
      return await this.#finish(departure, folder)
    } catch (error) {
      if (isMissing(errorCode(error))) return { kind: 'missing' }
      return problem(error, `${disposition} ${path}`)
    }
  }

  /** resume completes an interrupted move. The answer is `missing` if the move had not begun. It never rejects. */
  async resume(departure: Departure): Promise<Disposed> {
    const { disposition, path } = departure
    try {
      using folder = await this.#folderOf(path)
      await endGivingBack(departure, folder)
      return await this.#finish(departure, folder)
    } catch (error) {
      return { ...problem(error, `${disposition} ${path}`), isPartial: true }
    }
  }

  /**
   * writeReceipt writes or replaces the receipt beside the feed in one step. The answer is a problem if another file
   * has the name of the receipt. `token` has 12 random hexadecimal digits.
   */
  async writeReceipt(receipt: Receipt, token: string): Promise<Disposed> {
    const what = `write the receipt of ${receipt.file}`
    try {
      using folder = await this.#folderOf(receipt.file)
      const name = `${basename(receipt.file)}.receipt.json`
      const target = folder.entry(name)
      if (!(await mayBeReplaced(target, receipt.file))) return notOurs(what, name)
      const draft = folder.entry(draftName(token))
      try {
        const text = `${JSON.stringify(receipt, null, 2)}\n`
        await writeFile(draft, text, { flag: 'wx', flush: true })
        await rename(draft, target)
      } catch (error) {
        await rm(draft, { force: true })
        throw error
      }
      return { kind: 'done', to: join(this.#directory, dirname(receipt.file), name) }
    } catch (error) {
      return problem(error, what)
    }
  }

  /** discardDraft removes the unfinished receipt that a crash left with this token. It never rejects. */
  async discardDraft(file: string, token: string): Promise<void> {
    try {
      using folder = await this.#folderOf(file)
      await unlink(folder.entry(draftName(token)))
    } catch {
      // There is no draft, or its folder is gone.
    }
  }

  #folderOf(path: string): Promise<OpenDirectory> {
    return OpenDirectory.at(this.#directory, dirname(path))
  }

  /** #finish moves the renamed file to its new place, or back. */
  async #finish(departure: Departure, folder: OpenDirectory): Promise<Disposed> {
    const disposed = await this.#putAwayOrBack(departure, folder)
    if (disposed.kind === 'done') return disposed
    const returned = await returnedTo(departure, folder)
    return returned === null ? disposed : { ...disposed, returned }
  }

  async #putAwayOrBack(departure: Departure, folder: OpenDirectory): Promise<Disposed> {
    const { disposition, path, identity } = departure
    const taken = folder.entry(takenName(departure))
    let stats: BigIntStats
    try {
      stats = await lstat(taken, { bigint: true })
    } catch (error) {
      // A missing mount proves nothing about its files.
      const { dev } = await stat(folder.entry('.'), { bigint: true })
      const isReallyMissing = errorCode(error) === 'ENOENT' && String(dev) === identity.dev
      if (isReallyMissing) return { kind: 'missing' }
      return { ...problem(error, `${disposition} ${path}`), isPartial: true }
    }
    // Ignore ctime and device: the rename changes the ctime, and a restart of the host can change the device number.
    const now = { ...identityOf(stats), dev: identity.dev }
    const isOurs = stats.isFile() && isUnchanged({ ...now, ino: identity.ino }, identity)
    if (!isOurs) return giveBack(departure, folder, { kind: 'changed' })
    try {
      // Another inode means that another file of the same size and time has come, or that the file system makes the
      // inode from the path. The bytes tell which of the two.
      if (now.ino !== identity.ino && !(await hasBytesOf(taken, departure)))
        return await giveBackOther(departure, folder)
      if (disposition !== 'delete') return await this.#putAway(departure, taken)
      await unlink(taken)
      return { kind: 'done', to: null }
    } catch (error) {
      return giveBack(departure, folder, problem(error, `${disposition} ${path}`))
    }
  }

  #rootOf(disposition: Departure['disposition']): string {
    return disposition === 'archive' ? this.#archiveDirectory : this.#quarantineDirectory
  }

  /** #refuseInbox throws `ELOOP` for a target in the folder: listings would find the file there and send it again. */
  async #refuseInbox(root: string): Promise<void> {
    if (!(await leadsInto(root, this.#directory))) return
    throw Object.assign(new Error('it lies in the watched folder'), { code: 'ELOOP' })
  }

  async #putAway({ disposition, path }: Departure, taken: string): Promise<Disposed> {
    const root = this.#rootOf(disposition)
    await this.#refuseInbox(root)
    using folder = await OpenDirectory.atCreated(root, dirname(path))
    const time = isoTime(this.#clock.now()) ?? ''
    for (let counter = 0; ; counter++) {
      const name = stampedName(basename(path), time, counter)
      try {
        await moveExclusively(taken, folder.entry(name))
        return { kind: 'done', to: join(root, dirname(path), name) }
      } catch (error) {
        if (errorCode(error) !== 'EEXIST' || counter === MOST_NAMES) throw error
      }
    }
  }
}

/**
 * leadsInto returns whether `path` is or lies below `folder`, also through links and mounts. It creates a missing
 * `path`. Throws system errors.
 */
async function leadsInto(path: string, folder: string): Promise<boolean> {
  const { dev, ino } = await stat(folder, { bigint: true })
  using directory = await OpenDirectory.atCreated(path, '')
  let below: BigIntStats | null = null
  for (let at = '.'; ; at += '/..') {
    const here = await stat(directory.entry(at), { bigint: true })
    if (here.dev === dev && here.ino === ino) return true
    const isRoot = here.dev === below?.dev && here.ino === below.ino
    if (isRoot) return false
    below = here
  }
}

/** hasBytesOf returns whether the file, unpacked if packed, has the bytes that were read. Throws system errors. */
async function hasBytesOf(file: string, { path, sha256 }: Departure): Promise<boolean> {
  await using handle = await open(file, READ_FLAGS)
  const bytes = handle.createReadStream({ autoClose: false })
  const hash = createHash('sha256')
  await (isPacked(path) ? pipeline(bytes, createGunzip(), hash) : pipeline(bytes, hash))
  return hash.digest('hex') === sha256
}

/**
 * giveBackOther moves a file with other bytes back to its own name. The answer is a final problem if the file system
 * makes inodes from paths, because then every other try ends in the same way.
 */
async function giveBackOther(departure: Departure, folder: OpenDirectory): Promise<Disposed> {
  const { identity, path } = departure
  const disposed = await giveBack(departure, folder, { kind: 'changed' })
  if (disposed.kind !== 'changed') return disposed
  const back = await lstat(folder.entry(basename(path)), { bigint: true })
  // Another file has another inode. If it has the inode of the earlier file, the file system makes inodes from paths.
  return String(back.ino) === identity.ino ? otherInode(departure) : disposed
}

function otherInode({ disposition, path }: Departure): DisposalProblem {
  const code = 'other-inode'
  const reason = `${disposition} ${path}: after its rename another file is there (${code})`
  const hint =
    'if its file system makes inodes from paths, move such files yourself, and set inbox.afterUpload and inbox.afterReject to keep'
  return { kind: 'problem', code, reason, hint, isFinal: true }
}

/** giveBack moves the file back to its own name and returns `outcome`, or a partial problem if that fails. */
async function giveBack(
  departure: Departure,
  folder: OpenDirectory,
  outcome: Disposed,
): Promise<Disposed> {
  const taken = takenName(departure)
  const name = basename(departure.path)
  try {
    await moveExclusively(folder.entry(taken), folder.entry(name))
    return outcome
  } catch (error) {
    const code = errorCode(error) ?? 'UNKNOWN'
    const reason = `${name} could not be put back (${code}): the file is beside it as ${taken}`
    const hint =
      'feedsyncd tries again after each listing; if this lasts, move the file by hand to where it belongs'
    return { kind: 'problem', code, reason, hint, isPartial: true }
  }
}

/** endGivingBack removes the temporary name of a file that has both names, because a crash interrupted `giveBack`. */
async function endGivingBack(departure: Departure, folder: OpenDirectory): Promise<void> {
  const taken = folder.entry(takenName(departure))
  const names = [taken, folder.entry(basename(departure.path))]
  const looks = names.map((name) => lstat(name, { bigint: true }).then(identityOf))
  const [temporary, original] = await Promise.all(looks).catch(() => [])
  if (temporary !== undefined && original !== undefined && sameIdentity(temporary, original))
    await unlink(taken)
}

/** returnedTo returns the identity of the file at the path if it has the same bytes and another ctime, else null. */
async function returnedTo(
  { path, identity }: Departure,
  folder: OpenDirectory,
): Promise<FileIdentity | null> {
  try {
    const now = identityOf(await lstat(folder.entry(basename(path)), { bigint: true }))
    const isReturned = isUnchanged({ ...now, dev: identity.dev }, identity)
    return isReturned && now.ctimeNs !== identity.ctimeNs ? now : null
  } catch {
    return null
  }
}

/** takenName returns a temporary name like `.jobs.xml.0a1b2c3d4e5f.taken`; the dot makes listings ignore it. */
function takenName({ path, token }: Departure): string {
  const full = `.${basename(path)}.${token}.taken`
  return Buffer.byteLength(full) <= 255 ? full : `.${token}.taken`
}

/** draftName returns the name of a receipt while it is written. */
function draftName(token: string): string {
  return `.${token}.receipt.tmp`
}

/** mayBeReplaced returns whether nothing, an earlier receipt of this file, or a link is there. Throws system errors. */
async function mayBeReplaced(target: string, file: string): Promise<boolean> {
  try {
    await using handle = await open(target, READ_FLAGS)
    const stats = await handle.stat()
    if (!stats.isFile() || stats.size > MOST_RECEIPT) return false
    const memory = Buffer.alloc(MOST_RECEIPT)
    const { bytesRead } = await handle.read(memory, 0, MOST_RECEIPT, 0)
    const before = JSON.parse(memory.toString('utf8', 0, bytesRead)) as Partial<Receipt> | null
    return before?.schemaVersion === 1 && before.file === file
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT' || code === 'ELOOP') return true
    // The target is a socket, or its text is not JSON.
    if (code === 'ENXIO' || code === null) return false
    throw error
  }
}

function notOurs(what: string, name: string): Disposed {
  const reason = `${what}: ${name} exists and is not a receipt of feedsyncd`
  return { kind: 'problem', code: 'EEXIST', reason, hint: 'give that file another name' }
}

/** PLACES are the folder and the directories that receive its files. */
const PLACES: ErrnoSubject = {
  name: 'the folder or the archive',
  setting: 'its path',
  use: 'write',
  hints: {
    EROFS:
      'let the unit write there (ReadWritePaths= in a drop-in such as /usr/share/doc/feedsyncd/examples/local.conf), or mount the folder writable',
    ELOOP: 'the archive lies in the watched folder: move it elsewhere',
  },
}

function problem(error: unknown, what: string): DisposalProblem {
  const { code, hint, reason } = errnoText(error, PLACES)
  return { kind: 'problem', code: code ?? 'UNKNOWN', reason: `${what}: ${reason}`, hint }
}
