// Measures the cost of a long history: `feedsyncd status`, and a pass with nothing to do, as whole commands. A history
// of a million versions is compared with one of a hundred, of the same hundred feeds.

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
      await took(long, command)
      await repeat(bench, name, async () => {
        peer.push(await took(short, command))
        ours.push(await took(long, command))
      })
      figures.push(
        figure(`${name}, ${rows.toLocaleString('en')} versions`, 'ms', ours, {
          peer: { name: `${FEEDS} versions`, runs: peer },
          target: name === 'status' ? { of: 'ratio', atMost: 1.5 } : null,
          note: 'the whole command',
        }),
      )
    }
    return figures
  },
}

const took = (site: Site, command: readonly string[]) => elapsed(() => site.start(command).end())

function seed(site: Site, rows: number): void {
  seedHistory(site.database, rows, (n) => {
    const feed = `feed-${n % FEEDS}.xml`
    return { feed, path: feed, identity: null }
  })
}
