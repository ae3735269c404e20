// Measures a feed from the drop until storage has answered, compared with a shell line that does the same work, and the
// daemon's peak memory. The figure is that of a daemon's second feed; the note has that of its first feed.

import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, type Benchmark, elapsed, MB, repeat, temporaryFolder } from './bench.ts'
import { type Figure, figure, median } from './figures.ts'
import { SHAPES, type ShapeName, writeFeed } from './generator.ts'
import { canClone } from './machine.ts'
import { missing, shell } from './peers.ts'
import { Sink } from './sink.ts'
import { QUIET_MS, Site } from './site.ts'

const KB = 1_000
const GIB = 2 ** 30
const SIZES = [100 * KB, 20 * MB, 200 * MB, GIB, 5 * GIB]
const PEER =
  'cp "$1" "$2" && xmllint --stream --noout --huge "$2" && sha256sum "$2" && curl -sSf -F file=@"$2" "$3"'
/** SLOW_COPY is in seconds for 1 GiB. A note reports a slower copy, because the kernel causes it and not feedsyncd. */
const SLOW_COPY = 1

export const dropToStored: Benchmark = {
  name: 'drop-to-stored',
  title: 'From drop to stored, less the quiet period, and peak memory',
  run: async (bench) => {
    const figures: Figure[] = []
    for (const size of SIZES.filter((size) => size <= bench.upTo)) {
      for (const shape of hasTarget(size) && !bench.quick ? ALL_SHAPES : QUICK_SHAPES) {
        figures.push(...(await ofFeed(bench, size, shape)))
      }
    }
    return figures
  },
}

const ALL_SHAPES = Object.keys(SHAPES) as ShapeName[]
const QUICK_SHAPES: ShapeName[] = ['cdata']
const hasTarget = (size: number) => size >= 20 * MB && size <= GIB

/** mostOf returns the target. Where copies are clones, neither the program nor its peer writes one. */
function mostOf(size: number, directory: string): number {
  if (size < 200 * MB) return 0.9
  return canClone(directory) ? 0.45 : 0.6
}

async function ofFeed(bench: Bench, size: number, shape: ShapeName): Promise<Figure[]> {
  using folder = temporaryFolder(bench)
  await using sink = await Sink.start()
  const feed = join(folder.path, 'feed.xml')
  writeFeed(feed, shape, size)
  const noPeer = missing('cp', 'xmllint', 'sha256sum', 'curl')
  const first: number[] = []
  const seconds: number[] = []
  const memory: number[] = []
  const copies: number[] = []
  const peerSeconds: number[] = []
  const what = `${nameOf(size)}, ${shape}`
  await repeat(bench, `drop to stored, ${what}`, async () => {
    if (noPeer === null) peerSeconds.push(await peer(feed, folder.path, sink))
    const run = await daemon(bench, feed, folder.path, sink)
    first.push(run.first)
    seconds.push(run.second)
    memory.push(run.memory)
    copies.push((await copy(feed, folder.path)) * (GIB / size))
  })
  const copied = median(copies)
  const slow = `a copy alone takes the kernel ${copied.toFixed(1)} s a GiB`
  return [
    figure(`drop to stored, ${what}`, 's', seconds, {
      peer: noPeer === null ? { name: 'cp; xmllint; sha256sum; curl', runs: peerSeconds } : null,
      target: hasTarget(size) ? { of: 'ratio', atMost: mostOf(size, bench.directory) } : null,
      note: [noPeer, copied > SLOW_COPY && hasTarget(size) ? slow : null]
        .filter((said) => said !== null)
        .join('; '),
    }),
    figure(`first feed after a start, ${what}`, 's', first, {}),
    figure(`peak memory of the daemon, ${what}`, 'MB', memory, {
      target: { of: 'value', atMost: 160 },
      note: 'VmHWM',
    }),
  ]
}

async function copy(feed: string, folder: string): Promise<number> {
  const to = join(folder, 'copy.xml')
  const ms = await elapsed(() => shell('cp "$1" "$2"', feed, to))
  rmSync(to)
  return ms / 1000
}

/**
 * warmMemory fills and frees memory for two copies of a feed. A virtual machine may give freed memory back to its host, and
 * a copy into memory that the host provides anew takes five times as long. So each run begins with memory that was just used.
 */
function warmMemory(folder: string, feed: string): void {
  const files = [join(folder, 'memory-1'), join(folder, 'memory-2')]
  for (const file of files) copyFileSync(feed, file)
  for (const file of files) rmSync(file)
}

async function peer(feed: string, folder: string, sink: Sink): Promise<number> {
  const copy = join(folder, 'copy.xml')
  warmMemory(folder, feed)
  const ms = await elapsed(() => shell(PEER, feed, copy, sink.storage))
  rmSync(copy)
  await sink.stored()
  return ms / 1000
}

async function daemon(bench: Bench, feed: string, folder: string, sink: Sink) {
  await using site = new Site(bench, sink)
  const running = await site.daemon()
  const staged = join(folder, 'staged.xml')
  writeFeed(staged, 'cdata', 20_000)
  site.drop(staged, 'warm-up.xml')
  await sink.stored()
  const dropped = async (name: string) => {
    copyFileSync(feed, staged)
    warmMemory(folder, feed)
    const droppedAt = site.drop(staged, name)
    const { storedAt } = await sink.stored()
    return (storedAt - droppedAt - QUIET_MS) / 1000
  }
  const first = await dropped('first.xml')
  const second = await dropped('second.xml')
  const memory = running.peakMemory()
  await running.stop()
  return { first, second, memory }
}

function nameOf(bytes: number): string {
  if (bytes < MB) return `${bytes / KB} kB`
  return bytes % GIB === 0 ? `${bytes / GIB} GiB` : `${bytes / MB} MB`
}
