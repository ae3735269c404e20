// What is asked about a file or folder: whether the user of this process may do with it what the configuration wants.
// Nothing is changed: whether a folder can be written is asked, not tried.

import { constants } from 'node:fs'
import { access, lstat, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errnoText, type Subject } from '../../lib/errno.ts'
import { EXIT, errorCode } from '../../lib/errors.ts'
import { type Answer, ok, problem } from './finding.ts'

const { R_OK, W_OK, X_OK } = constants

/** The unit sees less of the host than others do, and writes nowhere but in its state. */
const DROPIN = '/usr/share/doc/feedsyncd/examples/local.conf'
const HINTS = {
  EACCES: `let the daemon’s user use it, and enter the folders above it; the unit sees no homes without a drop-in such as ${DROPIN}`,
  EROFS: `let the unit write there (ReadWritePaths= in a drop-in such as ${DROPIN}), or mount its file system writable`,
}

/** `make`: it is written to, and made where it is missing. */
export async function checkFolder(
  path: string,
  setting: string,
  use: 'read' | 'write' | 'make',
): Promise<Answer> {
  const isWritten = use !== 'read'
  try {
    const isFolder = (await stat(path)).isDirectory()
    if (!isFolder) return problem(`${path} is not a folder`, `correct ${setting}`, EXIT.config)
    await access(path, R_OK | X_OK | (isWritten ? W_OK : 0))
    return ok(`${path} can be ${isWritten ? 'read and written' : 'read'}`)
  } catch (error) {
    if (use === 'make' && (await canBeMade(path)))
      return ok(`${path} does not exist yet and can be created`)
    return refused(error, { name: path, setting, use: isWritten ? 'write' : 'read', hints: HINTS })
  }
}

export async function checkFile(
  path: string,
  setting: string,
  use: 'read' | 'run',
): Promise<Answer> {
  try {
    await access(path, use === 'run' ? X_OK : R_OK)
    return ok(`${path} can be ${use}`)
  } catch (error) {
    return refused(error, { name: path, setting, use }, EXIT.config)
  }
}

function refused(error: unknown, subject: Subject, exitCode: number = EXIT.failed): Answer {
  const { hint, reason } = errnoText(error, subject)
  return problem(reason, hint, exitCode)
}

/** A link that leads nowhere is in the way. */
async function canBeMade(path: string): Promise<boolean> {
  if ((await lstat(path).catch(errorCode)) !== 'ENOENT') return false
  const parent = dirname(path)
  const isOpen = await access(parent, W_OK | X_OK).then(
    () => true,
    () => false,
  )
  return isOpen || (await canBeMade(parent))
}
