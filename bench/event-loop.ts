// Measures the delay of the daemon's event loop while a large feed is checked and sent. Requests, timers and other
// feeds wait for this delay. loop-monitor.ts measures it inside the installed program.

import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../src/lib/clock.ts'
import { type Bench, type Benchmark, MB, repeat, temporaryFolder } from './bench.ts'
import { figure } from './figures.ts'
import { writeFeed } from './generator.ts'
import type { LoopDelay } from './loop-monitor.ts'
import { Sink } from './sink.ts'
import { Site } from './site.ts'

const MONITOR = join(import.meta.dirname, 'loop-monitor.ts')

export const eventLoop: Benchmark = {
  name: 'event-loop',
  title: 'Event loop delay while a large feed is checked and sent',
  run: async (bench) => {
    using folder = temporaryFolder(bench)
    await using sink = await Sink.start()
    const feed = join(folder.path, 'feed.xml')
    const size = Math.min(bench.upTo, bench.quick ? 100 * MB : 2 ** 30)
    writeFeed(feed, 'cdata', { bytes: size })
    const delays: LoopDelay[] = []
    await repeat(bench, 'event loop', async () => {
      delays.push(await delayWhileSending(bench, { feed, folder: folder.path, sink }))
    })
    const what = `event loop delay, ${Math.round(size / MB)} MB feed`
    return [
      figure(
        { what: `${what}, p99`, unit: 'ms' },
        delays.map(({ p99 }) => p99),
        {
          target: { of: 'value', atMost: 20 },
        },
      ),
      figure(
        { what: `${what}, worst`, unit: 'ms' },
        delays.map(({ max }) => max),
      ),
    ]
  },
}

async function delayWhileSending(
  bench: Bench,
  { feed, folder, sink }: { feed: string; folder: string; sink: Sink },
): Promise<LoopDelay> {
  await using site = new Site(bench, sink)
  const result = join(site.root, 'loop.json')
  const running = await site.daemon(['--import', MONITOR], { LOOP_MONITOR: result })
  const staged = join(folder, 'staged.xml')
  copyFileSync(feed, staged)
  running.signal('SIGUSR2')
  site.drop(staged, 'feed.xml')
  await sink.stored()
  running.signal('SIGUSR2')
  while (!existsSync(result)) await systemClock.sleep(10)
  await running.stop()
  return JSON.parse(readFileSync(result, 'utf8')) as LoopDelay
}
