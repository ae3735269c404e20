// Preloaded into a daemon (`--import`, in each of its threads): system calls hang, as on a network mount without its
// server. The names of the files in the folder FEEDSYNCD_HANG choose the calls: `look` is a stat of the inbox, `mount`
// each call about the inbox's directory `mount`, `link` the search for links in the inbox's path, `read` a read of a
// feed named `hung*.xml`, `open` the first listing of the spool, and `dns` the lookup of a host. A call hangs because
// it opens the FIFO `fifo` in that folder, which has no writer. The call goes on when the FIFO gets a writer.

import dns from 'node:dns'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'

const { FEEDSYNCD_HANG: FOLDER = '' } = process.env
const fifo = join(FOLDER, 'fifo')
const { existsSync, open: openLater, openSync, readSync, realpathSync, statSync } = fs
const { open } = fs.promises

function hangs(what: string): boolean {
  if (FOLDER === '' || !existsSync(join(FOLDER, what))) return false
  fs.writeFileSync(join(FOLDER, `${what}-hangs`), '')
  return true
}

const isHung = (path: unknown) => /\/mount(\/.*)?$/.test(String(path)) && hangs('mount')

const hung = new Set<number>()
fs.openSync = ((path: string, flags: number, mode: number) => {
  if (isHung(path)) openSync(fifo, 'r')
  const descriptor = openSync(path, flags, mode)
  if (/\/hung[^/]*\.xml$/.test(String(path))) hung.add(descriptor)
  else hung.delete(descriptor)
  return descriptor
}) as typeof openSync
const look = (path: string, options: never) => {
  if (path.endsWith('/inbox') && !isMainThread && hangs('look')) openSync(fifo, 'r')
  return statSync(path, options)
}
// The types of Node forbid to replace this function.
Object.assign(fs, { statSync: look })
fs.readSync = ((...parameters: Parameters<typeof readSync>) => {
  if (hung.has(parameters[0]) && hangs('read')) openSync(fifo, 'r')
  return readSync(...parameters)
}) as typeof readSync

if (isMainThread) {
  const { lstat, readdir, stat } = fs.promises
  const later =
    (real: (...parameters: never[]) => Promise<unknown>) =>
    async (...parameters: never[]) => {
      if (isHung(parameters[0])) await open(fifo)
      return real(...parameters)
    }
  fs.promises.stat = later(stat as never) as typeof stat
  fs.promises.lstat = later(lstat as never) as typeof lstat
  fs.promises.readdir = (async (path: string, options: never) => {
    if (String(path).endsWith('/spool') && hangs('open')) await open(fifo)
    if (isHung(path)) await open(fifo)
    return readdir(path, options)
  }) as typeof readdir
  fs.realpathSync = Object.assign((path: string, options: never) => {
    if (path.endsWith('/inbox') && hangs('link')) openSync(fifo, 'r')
    return realpathSync(path, options)
  }, realpathSync) as typeof realpathSync
  const laterAt = (path: string, flags: number, done: never) =>
    isHung(path) ? openLater(fifo, 'r', done) : openLater(path, flags, done)
  fs.open = Object.assign(laterAt, openLater) as unknown as typeof openLater
  const { lookup } = dns
  const hanging = (...parameters: Parameters<typeof lookup>) =>
    hangs('dns') ? fs.open(fifo, () => {}) : lookup(...parameters)
  dns.lookup = Object.assign(hanging, lookup) as unknown as typeof lookup
}
syncBuiltinESMExports()
