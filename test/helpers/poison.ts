// Preloaded into a daemon (`--import`): reading a file of one of these names ends its reading thread,
// fills that thread's memory, or meets an error that nobody foresaw.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { isMainThread } from 'node:worker_threads'

if (!isMainThread) {
  const { openSync, fstatSync } = fs
  let unforeseen: number | null = null

  fs.openSync = (path, flags, mode) => {
    if (String(path).endsWith('ends.xml')) process.exit(3)
    if (String(path).endsWith('grows.xml')) {
      for (const held: number[][] = []; ; ) held.push(new Array(100_000).fill(held.length))
    }
    const descriptor = openSync(path, flags, mode)
    if (String(path).endsWith('errs.xml')) unforeseen = descriptor
    return descriptor
  }
  fs.fstatSync = ((descriptor: number, options?: fs.StatOptions) => {
    if (descriptor === unforeseen) {
      unforeseen = null
      throw new TypeError('nobody foresaw this')
    }
    return fstatSync(descriptor, options)
  }) as typeof fs.fstatSync
  syncBuiltinESMExports()
}
