// Checks whether this process's user may use a file or folder as the configuration wants. It asks access(2) and writes
// nothing.

import { constants } from 'node:fs'
import { access, lstat, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type ErrnoSubject, errnoText } from '../../lib/errno.ts'
import { EXIT, errorCode } from '../../lib/errors.ts'
import { type CheckAnswer, ok, problem } from './finding.ts'

const { R_OK, W_OK, X_OK } = constants

/** An example of a drop-in. A drop-in lets the unit see more of the host, or write outside its state directory. */
const DROPIN = '/usr/share/doc/feedsyncd/examples/local.conf'
const HINTS = {
  EACCES: `give the daemon’s user access to it and to the folders above it; under /home the unit also needs a drop-in such as ${DROPIN}`,
  EROFS: `let the unit write there (ReadWritePaths= in a drop-in such as ${DROPIN}), or mount its file system writable`,
}

/** checkFolder checks a folder. With `make`, the daemon writes to the folder and creates it if it is missing. */
export async function checkFolder(
  path: string,
  setting: string,
  use: 'read' | 'write' | 'make',
): Promise<CheckAnswer> {
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
): Promise<CheckAnswer> {
  try {
    await access(path, use === 'run' ? X_OK : R_OK)
    return ok(`${path} can be ${use}`)
  } catch (error) {
    return refused(error, { name: path, setting, use }, EXIT.config)
  }
}

/** checkProgram looks for a program in PATH, as a shell does. */
export async function checkProgram(
  name: string,
  { PATH = '' }: NodeJS.ProcessEnv,
): Promise<CheckAnswer> {
  for (const folder of PATH.split(':')) {
    const path = join(folder, name)
    const isThere = await access(path, X_OK).then(
      () => true,
      () => false,
    )
    if (folder !== '' && isThere) return ok(`${path} can be run`)
  }
  return problem(`${name} is not installed`, `apt-get install ${name}`)
}

function refused(
  error: unknown,
  subject: ErrnoSubject,
  exitCode: number = EXIT.failed,
): CheckAnswer {
  const { hint, reason } = errnoText(error, subject)
  return problem(reason, hint, exitCode)
}

/**
 * canBeMade returns whether a missing path could be created. It returns false for a link without a target, which
 * prevents the creation.
 */
async function canBeMade(path: string): Promise<boolean> {
  if ((await lstat(path).catch(errorCode)) !== 'ENOENT') return false
  const parent = dirname(path)
  const isOpen = await access(parent, W_OK | X_OK).then(
    () => true,
    () => false,
  )
  return isOpen || (await canBeMade(parent))
}
