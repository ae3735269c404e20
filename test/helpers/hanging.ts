// Preloaded into a daemon (`--import`, in each of its threads): a system call hangs, as on a network mount without its
// server. The names of the files in the folder FEEDSYNCD_HANG choose the calls. `look`: stat of the inbox; `mount`:
// opening the directory `mount` in it; `link`: the search for links in its path; `read`: the thread that reads feeds;
// `open`: the first listing of the spool; `dns`: the lookup of a host. A call hangs because it opens `fifo` in that
// folder, a FIFO without a writer.

import dns from 'node:dns'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'

const { FEEDSYNCD_HANG: FOLDER = '' } = process.env
const fifo = join(FOLDER, 'fifo')
const { existsSync, open: openLater, openSync, readSync, realpathSync } = fs
const { open } = fs.promises

function hangs(what: string): boolean {
  if (FOLDER === '' || !existsSync(join(FOLDER, what))) return false
  fs.writeFileSync(join(FOLDER, `${what}-hangs`), '')
  return true
}

if (isMainThread) {
  const { stat, readdir } = fs.promises
  fs.promises.stat = (async (path: string, options: never) => {
    if (path.endsWith('/inbox') && hangs('look')) await open(fifo)
    return stat(path, options)
  }) as typeof stat
  fs.promises.readdir = (async (path: string, options: never) => {
    if (String(path).endsWith('/spool') && hangs('open')) await open(fifo)
    return readdir(path, options)
  }) as typeof readdir
  fs.realpathSync = Object.assign((path: string, options: never) => {
    if (path.endsWith('/inbox') && hangs('link')) openSync(fifo, 'r')
    return realpathSync(path, options)
  }, realpathSync) as typeof realpathSync
  const isHung = (path: unknown) => String(path).endsWith('/mount') && hangs('mount')
  fs.openSync = ((path: string, flags: number) =>
    openSync(isHung(path) ? fifo : path, isHung(path) ? 'r' : flags)) as typeof openSync
  const laterAt = (path: string, flags: number, done: never) =>
    isHung(path) ? openLater(fifo, 'r', done) : openLater(path, flags, done)
  fs.open = Object.assign(laterAt, openLater) as unknown as typeof openLater
  const { lookup } = dns
  const hanging = (...parameters: Parameters<typeof lookup>) =>
    hangs('dns') ? fs.open(fifo, () => {}) : lookup(...parameters)
  dns.lookup = Object.assign(hanging, lookup) as unknown as typeof lookup
} else {
  fs.readSync = ((...parameters: Parameters<typeof readSync>) => {
    if (hangs('read')) openSync(fifo, 'r')
    return readSync(...parameters)
  }) as typeof readSync
}
syncBuiltinESMExports()
