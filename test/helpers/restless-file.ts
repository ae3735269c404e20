// Preloaded into a daemon (`--import`): a file with a name in `changes` changes before a look at it, unless it changed
// in the last 50 ms. So a longer quiet period never ends, however busy the machine is. `rewritten.xml` also changes
// before each read of its bytes. `grown.xml` grows while the file FEEDSYNCD_TEST_HOLD exists, and then gets its end.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename } from 'node:path'
import { feedOf } from './feed.ts'

const AT_MOST_EACH_NS = 50_000_000n
const { lstatSync, openSync, readSync } = fs
const { hrtime } = process
const hold = process.env.FEEDSYNCD_TEST_HOLD ?? ''
const changedAt = new Map<string, bigint>()
let nth = 0

/** rewrite gives the file other bytes of the same size. */
function rewrite(file: string): void {
  fs.writeFileSync(file, feedOf(20, `${hrtime.bigint()}`.slice(-10)))
}

const changes: Record<string, (file: string) => void> = {
  'replaced.xml': (file) => {
    fs.writeFileSync(`${file}.part`, feedOf(2 + (nth++ % 3)))
    fs.renameSync(`${file}.part`, file)
  },
  'touched.xml': (file) => {
    const at = new Date(Date.UTC(2026, 0, 1) + nth++)
    fs.utimesSync(file, at, at)
  },
  'rewritten.xml': rewrite,
  'grown.xml': (file) => {
    const isWhole = () => fs.readFileSync(file, 'utf8').endsWith('</source>\n')
    if (fs.existsSync(hold)) fs.appendFileSync(file, '<job><title>Nurse</title></job>\n')
    else if (!isWhole()) fs.appendFileSync(file, '</source>\n')
  },
}

const look = (path: string, options: never) => {
  const name = basename(String(path))
  const change = changes[name]
  const now = hrtime.bigint()
  if (change !== undefined && now - (changedAt.get(name) ?? 0n) > AT_MOST_EACH_NS) {
    change(path)
    changedAt.set(name, now)
  }
  return lstatSync(path, options)
}

const beingRead = new Set<number>()
const open = (path: string, flags: never, mode: never) => {
  const descriptor = openSync(path, flags, mode)
  if (basename(String(path)) === 'rewritten.xml') beingRead.add(descriptor)
  else beingRead.delete(descriptor)
  return descriptor
}
const read = (...parameters: Parameters<typeof readSync>) => {
  const [descriptor] = parameters
  if (beingRead.has(descriptor)) rewrite(`/proc/self/fd/${descriptor}`)
  return readSync(...parameters)
}

// The types of Node forbid to replace these functions.
Object.assign(fs, { lstatSync: look, openSync: open, readSync: read })
syncBuiltinESMExports()
