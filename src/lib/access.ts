// Says how a person gets access to a file that this user may not read: which component of its path refuses the access,
// and which group has it. It never suggests to weaken a permission.

import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { userName } from './user.ts'

/** forbiddenAt returns the first component of a path that this user may not enter or read; null if it may read it. */
export function forbiddenAt(file: string): string | null {
  const path = resolve(file)
  const folders: string[] = []
  for (let at = dirname(path); ; at = dirname(at)) {
    folders.unshift(at)
    if (at === dirname(at)) break
  }
  return (
    folders.find((folder) => !may(folder, constants.X_OK)) ??
    (may(path, constants.R_OK) ? null : path)
  )
}

/** No hint names these groups: everybody can be in the first two, and nobody should join the group of root. */
const NO_GROUPS = ['nogroup', 'nobody', 'root']

/**
 * groupHint returns a sentence with the group that this user has to join to read a file, and the command for it; null
 * if no group would help, or if the user may read the file.
 */
export function groupHint(file: string): string | null {
  const refusing = forbiddenAt(file)
  if (refusing === null) return null
  try {
    const { gid, mode } = statSync(refusing)
    // A group needs the right to read the file, or to enter the directory.
    const neededBit = refusing === resolve(file) ? 0o040 : 0o010
    const isOpen = (mode & neededBit) !== 0
    const group = groupName(gid)
    if (!isOpen || group === null || NO_GROUPS.includes(group)) return null
    return `${refusing} is open to the group ${group}: as root, usermod -aG ${group} ${userName()}, then log in again`
  } catch {
    return null
  }
}

/** may returns false only if a permission refuses the access. For a missing file it returns true. */
function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EACCES'
  }
}

function groupName(gid: number): string | null {
  try {
    const lines = readFileSync('/etc/group', 'utf8').split('\n')
    return lines.map((line) => line.split(':')).find(([, , id]) => id === String(gid))?.[0] ?? null
  } catch {
    return null
  }
}
