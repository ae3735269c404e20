import { accessSync, constants, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const base = memory() ?? tmpdir()

/** memoryFolder makes a folder in memory if possible: a database syncs at each commit, which is slow on a disk. */
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
