// Preloaded into a daemon (`--import`): files in the folder FEEDSYNCD_TEST_HOLD stop the daemon at a step. `hold-move`
// stops it before it moves a file out of the inbox, `hold-archive` before it gives a moved file its final name, and
// `hold-listing` before the end of a listing. A file `moving`, `archiving` or `listed` shows that it reached the step.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread } from 'node:worker_threads'

const holds = process.env.FEEDSYNCD_TEST_HOLD

if (holds !== undefined && isMainThread) {
  const { link, rename } = fs.promises
  const held = async (hold: string, reached: string) => {
    if (fs.existsSync(join(holds, hold))) fs.writeFileSync(join(holds, reached), '')
    while (fs.existsSync(join(holds, hold))) await sleep(5)
  }
  fs.promises.rename = async (from, to) => {
    if (String(to).endsWith('.taken')) await held('hold-move', 'moving')
    return rename(from, to)
  }
  fs.promises.link = async (from, to) => {
    if (String(from).endsWith('.taken')) await held('hold-archive', 'archiving')
    return link(from, to)
  }
  syncBuiltinESMExports()
} else if (holds !== undefined) {
  const { opendirSync, statSync } = fs
  const moment = new Int32Array(new SharedArrayBuffer(4))
  let hasRead = false
  fs.opendirSync = ((...parameters: Parameters<typeof opendirSync>) => {
    hasRead ||= /\/inbox\/$/.test(String(parameters[0]))
    return opendirSync(...parameters)
  }) as typeof fs.opendirSync
  const look = (path: string, options: never) => {
    if (hasRead && /\/inbox$/.test(String(path))) {
      hasRead = false
      const hold = join(holds, 'hold-listing')
      if (fs.existsSync(hold)) fs.writeFileSync(join(holds, 'listed'), '')
      while (fs.existsSync(hold)) Atomics.wait(moment, 0, 0, 5)
    }
    return statSync(path, options)
  }
  // The types of Node forbid to replace this function.
  Object.assign(fs, { statSync: look })
  syncBuiltinESMExports()
}
