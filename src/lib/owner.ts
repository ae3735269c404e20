// Files that root makes for the daemon: `upload` and `release` may be run by root, and the daemon's account
// must be able to read, change and remove what they leave.

import { closeSync, constants, fchownSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Gives a new file to whoever owns this folder. Does nothing for other users than root: the file is theirs. */
export function giveToOwnerOf(folder: string, descriptor: number): void {
  if (process.geteuid?.() !== 0) return
  const { gid, uid } = statSync(folder)
  if (uid !== 0) fchownSync(descriptor, uid, gid)
}

/** The same for a new folder. A link at its place is not followed. */
export function giveFolderToOwnerOf(parent: string, folder: string): void {
  const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants
  const descriptor = openSync(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  try {
    giveToOwnerOf(parent, descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Why we may not use a file of the state directory, where its owner is the reason; null where it is not, or nobody knows. */
export function foreignOwner(path: string): { what: string | null; hint: string } | null {
  const folder = dirname(path)
  const us = process.geteuid?.() ?? 0
  try {
    const { gid, uid } = statSync(folder)
    // Advice about rights would open it to whoever merely asks.
    const hint = `run this as root, or as the user that owns ${folder} (uid ${uid}); its group may only read`
    if (uid !== us) return us === 0 ? null : { what: null, hint }
    const { uid: owner } = statSync(path)
    const what = `${path} belongs to another user (uid ${owner})`
    return owner === uid ? null : { what, hint: `chown -R ${uid}:${gid} ${folder}` }
  } catch {
    return null
  }
}
