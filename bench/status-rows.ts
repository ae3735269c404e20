// What a long history costs `feedsyncd status`: a million versions beside a hundred, of the same hundred
// feeds, as a whole command.

import { type Benchmark, elapsed, repeat } from './bench.ts'
import { figure } from './figures.ts'
import { seedHistory } from './seeding.ts'
import { Sink } from './sink.ts'
import { Site } from './site.ts'

const FEEDS = 100

export const statusRows: Benchmark = {
  name: 'status',
  title: 'Status on a long history',
  run: async (bench) => {
    await using sink = await Sink.start()
    await using short = new Site(bench, sink)
    await using long = new Site(bench, sink)
    const rows = bench.quick ? 100_000 : 1_000_000
    seed(short, FEEDS)
    bench.progress(`status: writing ${rows.toLocaleString('en')} versions`)
    seed(long, rows)
    const ours: number[] = []
    const peer: number[] = []
    await status(long)
    await repeat(bench, 'status', async () => {
      peer.push(await status(short))
      ours.push(await status(long))
    })
    return [
      figure(`status, ${rows.toLocaleString('en')} versions`, 'ms', ours, {
        peer: { name: `${FEEDS} versions`, runs: peer },
        target: { of: 'ratio', atMost: 1.5 },
        note: 'the whole command',
      }),
    ]
  },
}

const status = (site: Site) => elapsed(() => site.start(['status']).end())

function seed(site: Site, rows: number): void {
  seedHistory(site.database, rows, (n) => {
    const feed = `feed-${n % FEEDS}.xml`
    return { feed, path: feed, identity: null }
  })
}
