// Measures the idle daemon: it watches a folder of 10,000 files, all uploaded long ago, and lists it at each rescan.
// The figure is the CPU time of all threads, as the scheduler counts it.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Conditions } from '../src/domain/conditions.ts'
import { Inbox } from '../src/inbox/folder.ts'
import { systemClock } from '../src/lib/clock.ts'
import { silentLog } from '../src/lib/log.ts'
import { type Benchmark, elapsed } from './bench.ts'
import { figure } from './figures.ts'
import { writeFeed } from './generator.ts'
import { seedHistory } from './seeding.ts'
import { Sink } from './sink.ts'
import { Site } from './site.ts'

const FILES = 10_000
const BYTES = 1_000
/** AFTER_START_MS excludes the first listing, which belongs to the start. */
const AFTER_START_MS = 3_000

export const idle: Benchmark = {
  name: 'idle',
  title: 'Idle with 10,000 files',
  run: async (bench) => {
    // The quick run lists more often than the default of 30 s, so that its shorter time includes listings.
    const rescan = bench.quick ? '5s' : '30s'
    const seconds = bench.quick ? 10 : 60
    await using sink = await Sink.start()
    await using site = new Site(bench, sink, { rescan })
    bench.progress(`idle: writing ${FILES.toLocaleString('en')} files`)
    await fill(site)
    const { pid } = await site.daemon()
    bench.progress(`idle: nothing for ${seconds} s`)
    await systemClock.sleep(AFTER_START_MS)
    const before = cpuMs(pid)
    const took = await elapsed(() => systemClock.sleep(seconds * 1000))
    const share = ((cpuMs(pid) - before) / took) * 100
    if (sink.count > 0) throw new Error('the daemon was not idle: it sent a feed')
    return [
      figure({ what: 'idle, 10,000 files, share of one core', unit: '%' }, [share], {
        // The target is for the default rescan.
        target: bench.quick ? null : { of: 'value', atMost: 0.5 },
        note: `rescan: ${rescan}, over ${seconds} s`,
      }),
    ]
  },
}

async function fill(site: Site): Promise<void> {
  for (let n = 1; n <= FILES; n++)
    writeFeed(join(site.inbox, `feed-${n}.xml`), 'cdata', { bytes: BYTES, seed: n })
  await using inbox = new Inbox({
    ...{ directory: site.inbox, include: ['**/*.xml'], exclude: [] },
    clock: systemClock,
    conditions: new Conditions(systemClock),
    log: silentLog,
  })
  const { files } = await inbox.list()
  seedHistory(site.database, files.length, (n) => {
    const { path = '', identity = null } = files[n] ?? {}
    return { feed: path, path, identity }
  })
}

/** cpuMs returns the CPU time of all threads of a process so far, in ms. The first number of schedstat is in ns. */
function cpuMs(pid: number): number {
  return readdirSync(`/proc/${pid}/task`)
    .map((task) => readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8'))
    .reduce((sum, text) => sum + Number(text.split(' ')[0]) / 1e6, 0)
}
