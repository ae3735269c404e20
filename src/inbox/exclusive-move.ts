// Owns moves that never overwrite. rename(2) replaces what is there, so a free name is won by a link
// or, where links are refused, by creating the file exclusively.

import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { link, open, rename, rm, unlink } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { errorCode } from '../lib/errors.ts'
import { identityOf, sameBytes } from '../lib/files.ts'

/** The longest name of a file in bytes (NAME_MAX of Linux's file systems). */
const NAME_MAX = 255

/** No hard links here: FAT, some network mounts, or a file of another user (`fs.protected_hardlinks`). */
const NO_LINK = new Set(['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/** Moves a file to a free path. Throws the system's error: `EEXIST` where the path is taken. */
export async function moveExclusively(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    const code = errorCode(error) ?? ''
    if (code === 'EXDEV') return copyExclusively(from, to)
    if (NO_LINK.has(code)) return reserveAndRename(from, to)
    throw error
  }
  await unlink(from)
}

async function reserveAndRename(from: string, to: string): Promise<void> {
  await (await open(to, 'wx')).close()
  try {
    await rename(from, to)
  } catch (error) {
    await rm(to, { force: true })
    throw error
  }
}

/** To another file system: the copy has its name once it is whole, and the original leaves only after that. */
async function copyExclusively(from: string, to: string): Promise<void> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  await using source = await open(from, flags)
  const stats = await source.stat({ bigint: true })
  // A link, a fifo or a device came to the name: it ends nowhere.
  if (!stats.isFile()) throw Object.assign(new Error('not a regular file'), { code: 'EINVAL' })
  const draft = join(dirname(to), draftName(basename(from)))
  let ours = draft
  // A process that was killed in the middle left it.
  await rm(draft, { force: true })
  await using copy = await open(draft, 'wx', Number(stats.mode) & 0o777)
  try {
    // Not what is added meanwhile: it would never end.
    const end = Math.max(0, Number(stats.size) - 1)
    await copy.writeFile(source.createReadStream({ autoClose: false, end }))
    const after = await source.stat({ bigint: true })
    if (!sameBytes(identityOf(stats), identityOf(after))) {
      throw Object.assign(new Error('it changed while it was copied'), { code: 'EBUSY' })
    }
    await copy.sync()
    await moveExclusively(draft, to)
    ours = to
    await syncPath(dirname(to))
  } catch (error) {
    await rm(ours, { force: true })
    throw error
  }
  await unlink(from)
}

/** The same for every try, and never the name of the original: `.0a1b2c3d4e5f.copy`. */
function draftName(name: string): string {
  return `.${createHash('sha256').update(name).digest('hex').slice(0, 12)}.copy`
}

async function syncPath(path: string): Promise<void> {
  await using handle = await open(path, 'r')
  await handle.sync()
}

/**
 * `jobs.xml` at 2027-01-04T06:00:00.000Z is `jobs.20270104T060000000Z.xml`, and with counter 2
 * `jobs.20270104T060000000Z.2.xml`; a long name loses the end of its stem, at a character's edge.
 */
export function stampedName(name: string, isoTime: string, counter: number): string {
  const extension = extname(name)
  const stamp = `.${isoTime.replace(/[-:.]/g, '')}${counter === 0 ? '' : `.${counter}`}`
  const room = NAME_MAX - Buffer.byteLength(stamp + extension)
  let stem = name.slice(0, name.length - extension.length)
  while (Buffer.byteLength(stem) > room) stem = [...stem].slice(0, -1).join('')
  return stem + stamp + extension
}
