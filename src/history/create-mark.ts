// A small file beside the database that changes, durably, before each create. A database that does not know
// it was restored from a copy, was copied with its directory, or woke up on another host or after a restart:
// it may have forgotten what it created last.

import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { uptime } from 'node:os'
import { dirname } from 'node:path'
import { SECOND, systemClock } from '../lib/clock.ts'
import { identityOf } from '../lib/file-identity.ts'
import { giveToOwnerOf } from '../lib/owner.ts'
import { syncDirectory } from './connection.ts'

export interface CreateMark {
  /** null: none was ever written. `at`: wall ms by which the last create had been sent at the latest. */
  seen(): { text: string; at: number } | null
  /** Durable when it returns. Throws a file error. */
  renew(): void
}

export function createMark(file: string): CreateMark {
  return {
    seen: () => {
      const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
      if (stats === undefined) return null
      // A copy has another inode and another ctime, whatever else it preserves.
      const text = JSON.stringify([readFileSync(file, 'utf8'), identityOf(stats), bootId()])
      const bootedAt = systemClock.now() - uptime() * SECOND
      return { text, at: Math.max(Number(stats.ctimeMs), bootedAt) }
    },
    renew: () => {
      const handle = openSync(file, 'w', 0o600)
      try {
        // Made by root, it must still be the service's.
        giveToOwnerOf(dirname(file), handle)
        writeSync(handle, randomUUID())
        fsyncSync(handle)
      } finally {
        closeSync(handle)
      }
      syncDirectory(dirname(file))
    },
  }
}

/** Another one after each start of the host; empty where the system has none. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return ''
  }
}
