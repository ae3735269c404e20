// The options of every benchmark, and helpers for measuring.

import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Figure } from './figures.ts'

export const MB = 1_000_000

export interface Bench {
  /** quick limits each benchmark to a few seconds, with less data and shorter waits. */
  quick: boolean
  /** runs is the number of paired runs of each measurement. */
  runs: number
  /** upTo is the size of the largest feed, in bytes. */
  upTo: number
  /** documents is the number of damaged feeds to check. */
  documents: number
  /** feeds is a folder of more feeds to damage; null means damage only generated feeds. */
  feeds: string | null
  /** directory holds all files on one file system, so that a drop is a rename. */
  directory: string
  progress: (text: string) => void
}

export interface Benchmark {
  name: string
  title: string
  run: (bench: Bench) => Promise<Figure[]>
}

/** temporaryFolder makes a folder and removes it at disposal. */
export function temporaryFolder(bench: Bench): Disposable & { path: string } {
  const path = mkdtempSync(join(bench.directory, 'run-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** sharedNow returns ms of a clock that all processes of this host share. */
export const sharedNow = (): number => Number(process.hrtime.bigint()) / 1e6

/** elapsed returns the duration of the work in ms. */
export async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const started = sharedNow()
  await work()
  return sharedNow() - started
}

/** repeat calls `run` once for each of `bench.runs`, one after another, and reports each run as progress. */
export async function repeat(bench: Bench, what: string, run: () => Promise<void>): Promise<void> {
  for (let n = 1; n <= bench.runs; n++) {
    bench.progress(`${what}: run ${n} of ${bench.runs}`)
    await run()
  }
}
