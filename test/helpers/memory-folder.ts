import { accessSync, constants, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const base = memory() ?? tmpdir()

/** A new folder, in memory where the host has such a file system: a database syncs at each commit, and a disk is slow at that. */
export function memoryFolder(prefix: string): string {
  return mkdtempSync(join(base, prefix))
}

function memory(): string | null {
  try {
    accessSync('/dev/shm', constants.R_OK | constants.W_OK | constants.X_OK)
    return '/dev/shm'
  } catch {
    return null
  }
}
