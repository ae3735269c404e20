// Preloaded into a daemon (`--import`): files in the folder FEEDSYNCD_TEST_HOLD stop the daemon at a step. `hold-move`
// stops it before it moves a file out of the inbox, `hold-archive` before it gives a moved file its final name, and
// `hold-listing` before the end of a listing. A file `moving`, `archiving` or `listed` shows that it reached the step.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const holds = process.env.FEEDSYNCD_TEST_HOLD

if (holds !== undefined) {
  const { opendirSync } = fs
  const { link, rename, stat } = fs.promises
  const held = async (hold: string, reached: string) => {
    if (fs.existsSync(join(holds, hold))) fs.writeFileSync(join(holds, reached), '')
    while (fs.existsSync(join(holds, hold))) await sleep(5)
  }
  let hasRead = false
  fs.opendirSync = ((...parameters: Parameters<typeof opendirSync>) => {
    hasRead ||= /\/inbox\/$/.test(String(parameters[0]))
    return opendirSync(...parameters)
  }) as typeof fs.opendirSync
  fs.promises.stat = (async (...parameters: Parameters<typeof stat>) => {
    if (hasRead && /\/inbox$/.test(String(parameters[0]))) {
      hasRead = false
      await held('hold-listing', 'listed')
    }
    return stat(...parameters)
  }) as typeof fs.promises.stat
  fs.promises.rename = async (from, to) => {
    if (String(to).endsWith('.taken')) await held('hold-move', 'moving')
    return rename(from, to)
  }
  fs.promises.link = async (from, to) => {
    if (String(from).endsWith('.taken')) await held('hold-archive', 'archiving')
    return link(from, to)
  }
  syncBuiltinESMExports()
}
