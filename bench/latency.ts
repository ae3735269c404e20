// Measures a small feed from the drop until the daemon's request reaches storage, less the quiet period. What remains
// is the daemon's own share of the wait.

import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../src/lib/clock.ts'
import { type Bench, type Benchmark, MB, repeat, sharedNow, temporaryFolder } from './bench.ts'
import { figure, percentile } from './figures.ts'
import { writeFeed } from './generator.ts'
import { RunningShell, whyMissing } from './peers.ts'
import { Sink } from './sink.ts'
import { QUIET_MS, Site } from './site.ts'

/** START_MS lets the daemon finish its start, so that the first feed does not wait for the start. */
const START_MS = 1_000
/** PEER is a careful shell script; it has no quiet period, and no history after its end. */
const PEER = `inotifywait -m -e close_write -e moved_to --format %f "$1" | while read -r feed; do
  xmllint --noout "$1/$feed" && curl -sSf -X POST "$2/v1/form" && curl -sSf -F file=@"$1/$feed" "$2/storage"
done`

export const latency: Benchmark = {
  name: 'latency',
  title: 'Drop to storage request, small feed',
  run: async (bench) => {
    await using sink = await Sink.start()
    const first: number[] = []
    const medians: number[] = []
    const p95: number[] = []
    const script: number[] = []
    const noPeer = whyMissing('inotifywait', 'xmllint', 'curl')
    const count = bench.quick ? 15 : 60
    await repeat(bench, 'latency', async () => {
      if (noPeer === null) script.push(percentile(await waitsOfScript(bench, sink, count), 50))
      const [cold = 0, ...warm] = await waitsOfDaemon(bench, sink, count)
      first.push(cold)
      medians.push(percentile(warm, 50))
      p95.push(percentile(warm, 95))
    })
    const target = { of: 'value', atMost: 150 } as const
    const note = `less the quiet period of ${QUIET_MS} ms`
    return [
      figure({ what: 'drop to storage request, median', unit: 'ms' }, medians, {
        target,
        note: noPeer ?? note,
        peer: noPeer === null ? { name: 'inotifywait; xmllint, 2 x curl', runs: script } : null,
      }),
      figure({ what: 'drop to storage request, p95', unit: 'ms' }, p95, { target, note }),
      figure({ what: 'drop to storage request, first, 1 s after the start', unit: 'ms' }, first, {
        target,
        note,
      }),
    ]
  },
}

/** waitsOfDaemon returns the wait of each feed in ms, less the quiet period. */
async function waitsOfDaemon(bench: Bench, sink: Sink, count: number): Promise<number[]> {
  await using site = new Site(bench, sink)
  await site.daemon()
  await systemClock.sleep(START_MS)
  const waits = await waitsOf({ bench, sink, count }, (staged, name) => site.drop(staged, name))
  return waits.map((ms) => ms - QUIET_MS)
}

/** waitsOfScript returns the wait of each feed in ms; the script has no quiet period. */
async function waitsOfScript(bench: Bench, sink: Sink, count: number): Promise<number[]> {
  using inbox = temporaryFolder(bench)
  await using _ = await RunningShell.start('Watches established', PEER, inbox.path, sink.url)
  return await waitsOf({ bench, sink, count }, (staged, name) => {
    const at = sharedNow()
    renameSync(staged, join(inbox.path, name))
    return at
  })
}

/**
 * waitsOf drops feeds one by one and returns for each the ms until its request reaches storage. `drop` moves a staged
 * file to its place and returns the shared ms of the move.
 */
async function waitsOf(
  { bench, sink, count }: { bench: Bench; sink: Sink; count: number },
  drop: (staged: string, name: string) => number,
): Promise<number[]> {
  using folder = temporaryFolder(bench)
  const staged = join(folder.path, 'staged.xml')
  const waits: number[] = []
  for (let n = 1; n <= count; n++) {
    writeFeed(staged, 'cdata', { bytes: MB / 50, seed: n })
    const droppedAt = drop(staged, `feed-${n}.xml`)
    const { requestedAt } = await sink.stored()
    waits.push(requestedAt - droppedAt)
  }
  return waits
}
