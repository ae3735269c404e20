// Preloaded into a daemon (`--import`): the name of a file chooses a fault of its reading thread. `ends.xml` ends the
// thread, `grows.xml` fills its memory, and `errs.xml` throws an unexpected error.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { isMainThread } from 'node:worker_threads'

if (!isMainThread) {
  const { openSync, fstatSync } = fs
  let unexpected: number | null = null

  fs.openSync = (path, flags, mode) => {
    if (String(path).endsWith('ends.xml')) process.exit(3)
    if (String(path).endsWith('grows.xml')) {
      for (const held: number[][] = []; ; ) held.push(new Array(100_000).fill(held.length))
    }
    const descriptor = openSync(path, flags, mode)
    if (String(path).endsWith('errs.xml')) unexpected = descriptor
    return descriptor
  }
  fs.fstatSync = ((descriptor: number, options?: fs.StatOptions) => {
    if (descriptor === unexpected) {
      unexpected = null
      throw new TypeError('an unexpected error')
    }
    return fstatSync(descriptor, options)
  }) as typeof fs.fstatSync
  syncBuiltinESMExports()
}
