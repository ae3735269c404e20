// Measures a feed from the drop until storage has answered, compared with a shell line that does the same work, and the
// daemon's peak memory. Each daemon takes the feed twice; its first feed has a figure of its own.

import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, type Benchmark, elapsed, MB, repeat, temporaryFolder } from './bench.ts'
import { type Figure, figure, median } from './figures.ts'
import { SHAPES, type ShapeName, writeFeed } from './generator.ts'
import { canClone } from './machine.ts'
import { shell, whyMissing } from './peers.ts'
import { Sink } from './sink.ts'
import { QUIET_MS, Site } from './site.ts'

const KB = 1_000
const GIB = 2 ** 30
const SIZES = [100 * KB, 20 * MB, 200 * MB, GIB, 5 * GIB]
const PEER =
  'cp "$1" "$2" && xmllint --stream --noout --huge "$2" && sha256sum "$2" && curl -sSf -F file=@"$2" "$3"'
/** SLOW_COPY is in seconds for 1 GiB. A note reports a slower copy, which the kernel causes and not feedsyncd. */
const SLOW_COPY = 1

export const dropToStored: Benchmark = {
  name: 'drop-to-stored',
  title: 'From drop to stored, less the quiet period, and peak memory',
  run: async (bench) => {
    const figures: Figure[] = []
    for (const size of SIZES.filter((size) => size <= bench.upTo)) {
      for (const shape of hasTarget(size) && !bench.quick ? ALL_SHAPES : QUICK_SHAPES) {
        figures.push(...(await figuresOfFeed(bench, size, shape)))
      }
    }
    return figures
  },
}

const ALL_SHAPES = Object.keys(SHAPES) as ShapeName[]
const QUICK_SHAPES: ShapeName[] = ['cdata']
const hasTarget = (size: number) => size >= 20 * MB && size <= GIB

/**
 * targetRatio returns the largest allowed ratio to the peer's time. Where copies are clones, neither the program nor
 * its peer spends time on a copy.
 */
function targetRatio(size: number, directory: string): number {
  if (size < 200 * MB) return 0.9
  return canClone(directory) ? 0.45 : 0.6
}

async function figuresOfFeed(bench: Bench, size: number, shape: ShapeName): Promise<Figure[]> {
  using folder = temporaryFolder(bench)
  await using sink = await Sink.start()
  const feed = join(folder.path, 'feed.xml')
  writeFeed(feed, shape, { bytes: size })
  const noPeer = whyMissing('cp', 'xmllint', 'sha256sum', 'curl')
  const first: number[] = []
  const seconds: number[] = []
  const memory: number[] = []
  const copies: number[] = []
  const peerSeconds: number[] = []
  const what = `${nameOf(size)}, ${shape}`
  await repeat(bench, `drop to stored, ${what}`, async () => {
    const place = { feed, folder: folder.path, sink }
    if (noPeer === null) peerSeconds.push(await secondsOfPeer(place))
    const run = await runDaemon(bench, place)
    first.push(run.first)
    seconds.push(run.second)
    memory.push(run.memory)
    copies.push((await secondsOfCopy(place)) * (GIB / size))
  })
  const copied = median(copies)
  const slow = `a copy alone takes the kernel ${copied.toFixed(1)} s a GiB`
  return [
    figure({ what: `drop to stored, ${what}`, unit: 's' }, seconds, {
      peer: noPeer === null ? { name: 'cp; xmllint; sha256sum; curl', runs: peerSeconds } : null,
      target: hasTarget(size) ? { of: 'ratio', atMost: targetRatio(size, bench.directory) } : null,
      note: [noPeer, copied > SLOW_COPY && hasTarget(size) ? slow : null]
        .filter((said) => said !== null)
        .join('; '),
    }),
    figure({ what: `first feed after a start, ${what}`, unit: 's' }, first, {}),
    figure({ what: `peak memory of the daemon, ${what}`, unit: 'MB' }, memory, {
      target: { of: 'value', atMost: 160 },
      note: 'VmHWM',
    }),
  ]
}

interface Place {
  feed: string
  /** A folder for other files, on the same file system as the feed. */
  folder: string
  sink: Sink
}

async function secondsOfCopy({ feed, folder }: Place): Promise<number> {
  const to = join(folder, 'copy.xml')
  const ms = await elapsed(() => shell('cp "$1" "$2"', feed, to))
  rmSync(to)
  return ms / 1000
}

/**
 * warmMemory fills and frees memory for two copies of a feed. A virtual machine can give freed memory back to its host,
 * and a copy into memory that the host provides anew takes five times as long. So each run begins with memory that was
 * just used.
 */
function warmMemory({ feed, folder }: Pick<Place, 'feed' | 'folder'>): void {
  const files = [join(folder, 'memory-1'), join(folder, 'memory-2')]
  for (const file of files) copyFileSync(feed, file)
  for (const file of files) rmSync(file)
}

async function secondsOfPeer({ feed, folder, sink }: Place): Promise<number> {
  const copy = join(folder, 'copy.xml')
  warmMemory({ feed, folder })
  const ms = await elapsed(() => shell(PEER, feed, copy, sink.storage))
  rmSync(copy)
  await sink.stored()
  return ms / 1000
}

/** runDaemon returns the seconds of a new daemon's first and second feed, and its peak memory in MB. */
async function runDaemon(bench: Bench, { feed, folder, sink }: Place) {
  await using site = new Site(bench, sink)
  const running = await site.daemon()
  const staged = join(folder, 'staged.xml')
  writeFeed(staged, 'cdata', { bytes: 20_000 })
  site.drop(staged, 'warm-up.xml')
  await sink.stored()
  const secondsOf = async (name: string) => {
    copyFileSync(feed, staged)
    warmMemory({ feed, folder })
    const droppedAt = site.drop(staged, name)
    const { storedAt } = await sink.stored()
    return (storedAt - droppedAt - QUIET_MS) / 1000
  }
  const first = await secondsOf('first.xml')
  const second = await secondsOf('second.xml')
  const memory = running.peakMemory()
  await running.stop()
  return { first, second, memory }
}

function nameOf(bytes: number): string {
  if (bytes < MB) return `${bytes / KB} kB`
  return bytes % GIB === 0 ? `${bytes / GIB} GiB` : `${bytes / MB} MB`
}
