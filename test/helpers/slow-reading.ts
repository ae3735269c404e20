// Preloaded into a daemon (`--import`): its reading thread takes a moment over each piece of a file.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { isMainThread } from 'node:worker_threads'

if (!isMainThread) {
  const { readSync } = fs
  const moment = new Int32Array(new SharedArrayBuffer(4))
  fs.readSync = ((...parameters: Parameters<typeof readSync>) => {
    Atomics.wait(moment, 0, 0, 100)
    return readSync(...parameters)
  }) as typeof fs.readSync
  syncBuiltinESMExports()
}
