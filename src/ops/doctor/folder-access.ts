// Whether an account may use a folder: asked of the system where it is our own account, else told by the modes.

import { access, constants, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode } from '../../lib/errors.ts'
import type { Account } from '../systemd/unit.ts'

const READ = 4
const WRITE = 2
const ENTER = 1

/** null: it may; otherwise the system's code. `account` null: whoever asks. */
export async function refusalOf(
  path: string,
  write: boolean,
  account: Account | null,
): Promise<string | null> {
  const isAnother = account !== null && account.uid !== process.getuid?.()
  try {
    if (!isAnother)
      await access(path, constants.R_OK | constants.X_OK | (write ? constants.W_OK : 0))
    if (!isAnother) return null
  } catch (error) {
    const code = errorCode(error)
    // The unit may give the account more groups than we have here.
    if (account === null || code !== 'EACCES') return code
  }
  return await byModes(path, READ | ENTER | (write ? WRITE : 0), account)
}

async function byModes(path: string, needed: number, account: Account): Promise<string | null> {
  try {
    if (!allows(await stat(path), needed, account)) return 'EACCES'
    for (let at = dirname(path); ; at = dirname(at)) {
      if (!allows(await stat(at), ENTER, account)) return 'EACCES'
      if (at === dirname(at)) return null
    }
  } catch (error) {
    return errorCode(error)
  }
}

/** Access control lists are not looked at: they show as the rights of the group. */
function allows(
  { gid, mode, uid }: { gid: number; mode: number; uid: number },
  needed: number,
  account: Account,
): boolean {
  if (account.uid === 0) return true
  const shift = uid === account.uid ? 6 : account.gids.includes(gid) ? 3 : 0
  return ((mode >> shift) & needed) === needed
}
