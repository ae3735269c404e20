// Moves files without overwriting. rename(2) replaces an existing file, so moveExclusively reserves the new name first:
// with a hard link or, if links are refused, by creating the file exclusively.

import { createHash } from 'node:crypto'
import { link, open, rename, rm, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { READ_FLAGS } from '../lib/beneath.ts'
import { errorCode } from '../lib/errors.ts'
import { identityOf, isUnchanged } from '../lib/files.ts'

/** NO_LINK are the errors if hard links are refused, by FAT, some network mounts or `fs.protected_hardlinks`. */
const NO_LINK = new Set(['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/** moveExclusively moves a file to a free path. It throws the system's error: `EEXIST` if the path exists. */
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

/** copyExclusively moves a file to another file system. It names the complete copy before it removes the original. */
async function copyExclusively(from: string, to: string): Promise<void> {
  await using source = await open(from, READ_FLAGS)
  const stats = await source.stat({ bigint: true })
  // A fifo or a device might have taken the name: reading it might never end.
  if (!stats.isFile()) throw Object.assign(new Error('not a regular file'), { code: 'EINVAL' })
  const draft = join(dirname(to), draftName(basename(from)))
  let created = draft
  // A killed process might have left an earlier draft.
  await rm(draft, { force: true })
  await using copy = await open(draft, 'wx', Number(stats.mode) & 0o777)
  try {
    // Copy only the size at the start: a growing file might never end.
    const end = Math.max(0, Number(stats.size) - 1)
    await copy.writeFile(source.createReadStream({ autoClose: false, end }))
    const after = await source.stat({ bigint: true })
    if (!isUnchanged(identityOf(stats), identityOf(after))) {
      throw Object.assign(new Error('it changed while it was copied'), { code: 'EBUSY' })
    }
    await copy.sync()
    await moveExclusively(draft, to)
    created = to
    await syncPath(dirname(to))
  } catch (error) {
    await rm(created, { force: true })
    throw error
  }
  await unlink(from)
}

/** draftName returns a name like `.0a1b2c3d4e5f.copy`, the same for every try. */
function draftName(name: string): string {
  return `.${createHash('sha256').update(name).digest('hex').slice(0, 12)}.copy`
}

async function syncPath(path: string): Promise<void> {
  await using handle = await open(path, 'r')
  await handle.sync()
}
