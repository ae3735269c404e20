// Whether an account may use a file or folder: asked of the system where it is our own account, else told by the modes.

import { access, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode } from '../../lib/errors.ts'
import type { Account } from '../systemd/unit.ts'

/** As in a mode, and as access(2) takes them. */
export const READ = 4
export const WRITE = 2
/** Of a folder: to enter it; of a file: to run it. */
export const ENTER = 1

/** `at`: what refuses; it may be a folder above the path that was asked about. */
export interface Refusal {
  /** The system's. */
  code: string
  at: string
}

/** null: it may. `account` null: whoever asks. */
export async function refusalOf(
  path: string,
  needed: number,
  account: Account | null,
): Promise<Refusal | null> {
  const isAnother = account !== null && account.uid !== process.getuid?.()
  const code = await access(path, needed).then(() => null, errorCode)
  // A disk is read-only for everybody; otherwise the unit may give the account more groups than we have here.
  const isOurs = code === 'EROFS' || !(isAnother || (account !== null && code === 'EACCES'))
  if (!isOurs) return await byModes(path, needed, account)
  return code === null ? null : { code, at: path }
}

async function byModes(path: string, needed: number, account: Account): Promise<Refusal | null> {
  try {
    if (!allows(await stat(path), needed, account)) return { code: 'EACCES', at: path }
    for (let at = dirname(path); ; at = dirname(at)) {
      if (!allows(await stat(at), ENTER, account)) return { code: 'EACCES', at }
      if (at === dirname(at)) return null
    }
  } catch (error) {
    return { code: errorCode(error) ?? 'UNKNOWN', at: path }
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
