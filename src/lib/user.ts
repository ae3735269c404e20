// The user that runs this process, and the person who typed the command.

import { statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname } from 'node:path'

/** userName returns the name of the user, or the number if the system has no name for it, as in many containers. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.()}`
  }
}

/**
 * personName names the person who typed a command, also behind sudo. It reads the environment, because a command of
 * root becomes another user before it writes.
 */
export function personName({ LOGNAME, SUDO_USER, USER }: NodeJS.ProcessEnv): string {
  return SUDO_USER || USER || LOGNAME || userName()
}

/**
 * becomeOwnerOf turns a process of root into a process of the directory's owner for good, so that root leaves no files
 * of its own there. A directory that does not exist yet has the owner of the nearest one above it. Call it after
 * everything was read that only root may read: the configuration, the key, a file to upload. It changes nothing if the
 * directory cannot be looked at: whoever opens the directory reports the error. Throws the errors of setuid(2).
 */
export function becomeOwnerOf(directory: string): void {
  if (process.geteuid?.() !== 0) return
  const { gid, uid } = ownerOfNearest(directory)
  if (uid === 0) return
  // The types of Node lack this function.
  const { initgroups } = process as unknown as { initgroups: (user: number, group: number) => void }
  try {
    initgroups(uid, gid)
  } catch {
    // An owner without a user account, as in a container, has no other groups.
    process.setgroups?.([gid])
  }
  process.setgid?.(gid)
  process.setuid?.(uid)
}

function ownerOfNearest(directory: string): { gid: number; uid: number } {
  try {
    return statSync(directory, { throwIfNoEntry: false }) ?? ownerOfNearest(dirname(directory))
  } catch {
    return { gid: 0, uid: 0 }
  }
}
