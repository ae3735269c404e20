// Measures the cost of a long history: the whole commands `feedsyncd status` and `feedsyncd run --once` when nothing
// has to be sent. A history of a million versions is compared with a history of a hundred, of the same hundred feeds.

import { type Benchmark, elapsed, repeat } from './bench.ts'
import { figure } from './figures.ts'
import { seedHistory } from './seeding.ts'
import { Sink } from './sink.ts'
import { Site } from './site.ts'

const FEEDS = 100
const COMMANDS = { status: ['status'], 'run --once': ['run', '--once'] }

export const statusRows: Benchmark = {
  name: 'status',
  title: 'A long history',
  run: async (bench) => {
    await using sink = await Sink.start()
    await using short = new Site(bench, sink)
    await using long = new Site(bench, sink)
    const rows = bench.quick ? 100_000 : 1_000_000
    seed(short, FEEDS)
    bench.progress(`status: writing ${rows.toLocaleString('en')} versions`)
    seed(long, rows)
    const figures = []
    for (const [name, command] of Object.entries(COMMANDS)) {
      const ours: number[] = []
      const peer: number[] = []
      // The first command warms the caches and is not counted.
      await msOf(long, command)
      await repeat(bench, name, async () => {
        peer.push(await msOf(short, command))
        ours.push(await msOf(long, command))
      })
      figures.push(
        figure({ what: `${name}, ${rows.toLocaleString('en')} versions`, unit: 'ms' }, ours, {
          peer: { name: `${FEEDS} versions`, runs: peer },
          target: name === 'status' ? { of: 'ratio', atMost: 1.5 } : null,
          note: 'the whole command',
        }),
      )
    }
    return figures
  },
}

const msOf = (site: Site, command: readonly string[]) => elapsed(() => site.start(command).end())

function seed(site: Site, rows: number): void {
  seedHistory(site.database, rows, (n) => {
    const feed = `feed-${n % FEEDS}.xml`
    return { feed, path: feed, identity: null }
  })
}
