// Files that root makes for the daemon: `upload` and `release` may be run by root, and the daemon's account
// must be able to read, change and remove what they leave.

import { fchownSync, statSync } from 'node:fs'

/** Gives a new file to whoever owns this folder. Does nothing for other users than root: the file is theirs. */
export function giveToOwnerOf(folder: string, descriptor: number): void {
  if (process.geteuid?.() !== 0) return
  const { gid, uid } = statSync(folder)
  if (uid !== 0) fchownSync(descriptor, uid, gid)
}
