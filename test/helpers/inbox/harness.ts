// Real folders in the system's temporary directory, and a clock that a test moves by hand.

import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { Conditions } from '../../../src/domain/conditions.ts'
import { Inbox, type InboxOptions } from '../../../src/inbox/folder.ts'
import type { Listing } from '../../../src/inbox/port.ts'
import { type Clock, systemClock } from '../../../src/lib/clock.ts'
import { silentLog } from '../../../src/lib/log.ts'

export function temporaryFolder(disk = tmpdir()): string {
  const path = realpathSync(mkdtempSync(join(disk, 'inbox-')))
  // Other users can enter the folder, so that a test can look at it with their rights.
  chmodSync(path, 0o755)
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

export function put(folder: string, path: string, content = '<a/>'): string {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
  return file
}

export function openInbox(directory: string, options: Partial<InboxOptions> = {}): Inbox {
  const inbox = new Inbox({
    directory,
    include: ['**/*.xml'],
    exclude: [],
    clock: systemClock,
    conditions: new Conditions(systemClock),
    log: silentLog,
    // The result must not depend on the file system of the test host, so report ext4.
    networkFileSystem: async () => 0xef53,
    ...options,
  })
  onTestFinished(() => inbox[Symbol.asyncDispose]())
  return inbox
}

export const pathsOf = (listing: Listing) => listing.files.map(({ path }) => path).sort()

export const reasonsOf = (listing: Listing) =>
  Object.fromEntries(listing.skipped.map(({ path, reason }) => [path, reason]))

/** unprivileged runs work as a user without special rights, as daemons do, even if root runs the tests. */
export async function unprivileged<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work()
  process.seteuid?.(65534)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
  }
}

/** backdate gives the file an old date, as a copy does that preserves dates. */
export function backdate(file: string): void {
  utimesSync(file, new Date(2001, 0, 1), new Date(2001, 0, 1))
}

/** ManualClock moves its wall and monotonic time only when a test changes them. */
export class ManualClock implements Clock {
  wall = Date.UTC(2027, 0, 4, 6)
  mono = 1000

  now(): number {
    return this.wall
  }

  monotonic(): number {
    return this.mono
  }

  sleep(): Promise<void> {
    return Promise.resolve()
  }

  after(_ms: number, run: () => void): Disposable {
    return setImmediate(run)
  }
}
