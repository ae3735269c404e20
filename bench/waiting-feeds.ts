// Measures many small feeds that wait at the start: `run --once` from start to exit, compared with a shell loop that
// checks each feed, asks for a form and posts it. Each feed must arrive exactly once.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, type Benchmark, elapsed, repeat, temporaryFolder } from './bench.ts'
import { figure } from './figures.ts'
import { writeFeed } from './generator.ts'
import { shell, whyMissing } from './peers.ts'
import { Sink } from './sink.ts'
import { Site } from './site.ts'

const BYTES = 20_000
const PEER =
  'for feed in "$1"/*.xml; do xmllint --noout "$feed"; curl -sSf -X POST "$2/v1/form"; curl -sSf -F file=@"$feed" "$2/storage"; done'

export const waitingFeeds: Benchmark = {
  name: 'waiting-feeds',
  title: 'Many small feeds that wait',
  run: async (bench) => {
    using folder = temporaryFolder(bench)
    await using sink = await Sink.start()
    const feeds = bench.quick ? 200 : 2_000
    const noPeer = whyMissing('xmllint', 'curl')
    const ours: number[] = []
    const loop: number[] = []
    const source = join(folder.path, 'feeds')
    writeFeeds(source, feeds)
    await repeat(bench, `${feeds} waiting feeds`, async () => {
      if (noPeer === null) {
        loop.push((await elapsed(() => shell(PEER, source, sink.url))) / 1000)
        await sink.stored(feeds)
      }
      ours.push(await onePass(bench, sink, feeds))
    })
    return [
      figure(
        { what: `${feeds.toLocaleString('en')} feeds of 20 kB, in one pass`, unit: 's' },
        ours,
        {
          peer: noPeer === null ? { name: 'loop: xmllint, 2 x curl', runs: loop } : null,
          // The target is four times as fast.
          target: { of: 'ratio', atMost: 0.25 },
          note: noPeer ?? 'from start to exit of run --once',
        },
      ),
    ]
  },
}

async function onePass(bench: Bench, sink: Sink, feeds: number): Promise<number> {
  await using site = new Site(bench, sink)
  writeFeeds(site.inbox, feeds)
  const ms = await elapsed(() => site.start(['run', '--once']).end())
  const { files } = await sink.stored(feeds)
  if (files !== feeds) throw new Error(`${feeds} feeds waited, and ${files} files were sent`)
  return ms / 1000
}

function writeFeeds(folder: string, feeds: number): void {
  mkdirSync(folder, { recursive: true })
  for (let n = 1; n <= feeds; n++)
    writeFeed(join(folder, `feed-${n}.xml`), 'cdata', { bytes: BYTES, seed: n })
}
