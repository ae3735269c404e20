// A site whose daemon's system calls hang when the test says so (hanging.ts), with clocks that run ten times as fast.

import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from './eventually.ts'
import { preload, Site } from './site.ts'

export async function hangingSite(config: Record<string, unknown> = {}) {
  const site = await Site.open(config)
  const folder = join(site.root, 'hang')
  mkdirSync(folder)
  execFileSync('mkfifo', [join(folder, 'fifo')])
  site.env = {
    ...preload('hanging.ts', 'fast-time.ts'),
    FEEDSYNCD_HANG: folder,
  }
  return {
    site,
    /** hang lets later calls hang; hanging.ts has their names. */
    hang: (what: string) => writeFileSync(join(folder, what), ''),
    /** untilHanging resolves when a call of this name hangs, and forgets that call, so that it can wait for another. */
    untilHanging: (what: string) => eventually(() => rmSync(join(folder, `${what}-hangs`))),
    /** answer lets all hanging calls go on. Later calls of this name do not hang. */
    answer: (what: string) => {
      rmSync(join(folder, what))
      closeSync(openSync(join(folder, 'fifo'), constants.O_WRONLY | constants.O_NONBLOCK))
    },
    /** release lets no later call hang. Calls that hang already stay so. */
    release: () => rmSync(folder, { recursive: true }),
  }
}
