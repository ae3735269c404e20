// What every benchmark is given: how much to do, where to do it, and how to say what it is doing.

import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Figure } from './figures.ts'

export const MB = 1_000_000

export interface Bench {
  /** A few seconds a benchmark instead of as long as it takes. */
  quick: boolean
  /** Paired runs of each measurement. */
  runs: number
  /** Size in bytes of the largest feed that is tried. */
  upTo: number
  /** Damaged feeds that are judged. */
  documents: number
  /** Folder of further feeds to damage; null: only those that are made here. */
  feeds: string | null
  /** Where everything is written: one file system, so that a drop is a rename. */
  directory: string
  progress: (text: string) => void
}

export interface Benchmark {
  name: string
  title: string
  run: (bench: Bench) => Promise<Figure[]>
}

/** A folder that goes with the block it is used in. */
export function temporaryFolder(bench: Bench): Disposable & { path: string } {
  const path = mkdtempSync(join(bench.directory, 'run-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** Ms on a clock that all processes of this host share. */
export const sharedNow = (): number => Number(process.hrtime.bigint()) / 1e6

/** How long the work took, in ms. */
export async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const started = sharedNow()
  await work()
  return sharedNow() - started
}

/** Does the runs one after the other, and says so. */
export async function repeat(bench: Bench, what: string, run: () => Promise<void>): Promise<void> {
  for (let n = 1; n <= bench.runs; n++) {
    bench.progress(`${what}: run ${n} of ${bench.runs}`)
    await run()
  }
}
