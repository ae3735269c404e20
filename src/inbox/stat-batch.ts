// Owns how many paths are looked at and at what price. A local lstat costs 6 us when called directly
// and 25 us through the thread pool, so local files are looked at in short direct bursts; on a network
// each call may wait for a server, so there they go out together and never hold the event loop.

import { type BigIntStats, lstatSync } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { setImmediate as yieldToLoop } from 'node:timers/promises'

export type PathLike = string | Buffer

/** Stats, null where nothing is there, or the error of the call. */
export type Look = BigIntStats | null | Error

/** Direct calls that hold the event loop for half a ms, and whose paths are gone before they are collected. */
export const BATCH = 64

/** Looks at paths without following a link at their end, in order, letting others run in between. */
export async function lstatEach(
  paths: readonly PathLike[],
  remote: boolean,
  found: (look: Look, index: number) => void,
): Promise<void> {
  for (let start = 0; start < paths.length; start += BATCH) {
    const batch = paths.slice(start, start + BATCH)
    if (remote) {
      const looks = await Promise.all(batch.map(lstatPooled))
      looks.forEach((look, index) => {
        found(look, start + index)
      })
    } else {
      // One by one: stats that are kept for a whole batch outlive the young generation.
      batch.forEach((path, index) => {
        found(lstatDirect(path), start + index)
      })
    }
    await yieldToLoop()
  }
}

function lstatPooled(path: PathLike): Promise<Look> {
  return lstat(path, { bigint: true }).catch(nullWhenMissing)
}

function lstatDirect(path: PathLike): Look {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null
  } catch (error) {
    return nullWhenMissing(error)
  }
}

function nullWhenMissing(error: unknown): null | Error {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR' ? null : (error as Error)
}
