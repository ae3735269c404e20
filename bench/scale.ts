// How the cost of one grows with the number of all: waiting feeds in one pass, and the start of a daemon on
// a history of so many versions. Less the cost of starting at all, which the smallest size shows.

import { join } from 'node:path'
import { type Bench, type Benchmark, elapsed, repeat } from './bench.ts'
import { type Figure, figure } from './figures.ts'
import { writeFeed } from './generator.ts'
import { seedHistory } from './seeding.ts'
import { Sink } from './sink.ts'
import { Site } from './site.ts'

const BYTES = 2_000
const FEEDS = 100

export const scale: Benchmark = {
  name: 'scale',
  title: 'Growth with the number of feeds and of versions',
  run: async (bench) => {
    await using sink = await Sink.start()
    // The last one takes a quarter of an hour a run: only where hours were asked for.
    const long = bench.upTo >= 5 * 2 ** 30 ? [100_000] : []
    const files = bench.quick ? [10, 100, 300] : [10, 100, 1_000, 10_000, ...long]
    const rows = bench.quick ? [100, 10_000] : [100, 10_000, 100_000, 1_000_000]
    return [...(await waiting(bench, sink, files)), ...(await starts(bench, sink, rows))]
  },
}

async function waiting(bench: Bench, sink: Sink, sizes: readonly number[]): Promise<Figure[]> {
  const costs = new Map(sizes.map((size) => [size, [] as number[]]))
  await repeat(bench, 'scale, waiting feeds', async () => {
    const empty = await pass(bench, sink, 0)
    for (const size of sizes) {
      costs.get(size)?.push(((await pass(bench, sink, size)) - empty) / size)
    }
  })
  return [...costs].map(([size, runs]) =>
    figure(`${size.toLocaleString('en')} waiting feeds of 2 kB, each`, 'ms', runs, {
      note: 'less a pass over an empty folder',
    }),
  )
}

async function pass(bench: Bench, sink: Sink, feeds: number): Promise<number> {
  await using site = new Site(bench, sink)
  for (let n = 1; n <= feeds; n++) {
    writeFeed(join(site.inbox, `feed-${n}.xml`), 'cdata', BYTES, n)
  }
  const ms = await elapsed(() => site.start(['run', '--once']).end())
  if (feeds > 0) await sink.stored(feeds)
  return ms
}

async function starts(bench: Bench, sink: Sink, sizes: readonly number[]): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const size of sizes) {
    await using site = new Site(bench, sink)
    bench.progress(`scale: writing ${size.toLocaleString('en')} versions`)
    seedHistory(site.database, size, (n) => {
      const feed = `feed-${n % FEEDS}.xml`
      return { feed, path: feed, identity: null }
    })
    const runs: number[] = []
    await repeat(bench, 'scale, start', async () => {
      runs.push(await elapsed(() => site.start(['run', '--once']).end()))
    })
    const note = 'run --once, from its start to its end'
    figures.push(
      figure(`${size.toLocaleString('en')} versions, nothing to do`, 'ms', runs, { note }),
    )
  }
  return figures
}
