// Preloaded into a daemon (`--import`): its reading threads wait before each read of a file named `held*.xml`, while
// the file FEEDSYNCD_TEST_HOLD exists.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename } from 'node:path'
import { isMainThread } from 'node:worker_threads'

const hold = process.env.FEEDSYNCD_TEST_HOLD

if (!isMainThread && hold !== undefined) {
  const { openSync, readSync } = fs
  const moment = new Int32Array(new SharedArrayBuffer(4))
  const held = new Set<number>()
  fs.openSync = (path, flags, mode) => {
    const descriptor = openSync(path, flags, mode)
    if (/^held.*\.xml$/.test(basename(String(path)))) held.add(descriptor)
    else held.delete(descriptor)
    return descriptor
  }
  fs.readSync = ((...parameters: Parameters<typeof readSync>) => {
    if (held.has(parameters[0])) while (fs.existsSync(hold)) Atomics.wait(moment, 0, 0, 10)
    return readSync(...parameters)
  }) as typeof fs.readSync
  syncBuiltinESMExports()
}
