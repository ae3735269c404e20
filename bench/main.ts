// npm run bench: compares the installed program with its peers. The table goes to stdout, the progress to stderr. The
// exit code is 0 even if a target is missed; the table shows which targets are missed.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { parseSize } from '../src/lib/units.ts'
import type { Bench, Benchmark } from './bench.ts'
import { campaigns } from './campaigns.ts'
import { checkAlone } from './check-alone.ts'
import { conformance } from './conformance.ts'
import { diff } from './diff.ts'
import { dropToStored } from './drop-to-stored.ts'
import { eventLoop } from './event-loop.ts'
import { idle } from './idle.ts'
import { latency } from './latency.ts'
import { machineFacts } from './machine.ts'
import { jsonOf, pageOf, type Result, tableOf } from './report.ts'
import { startUp } from './start-up.ts'
import { statusRows } from './status-rows.ts'
import { waitingFeeds } from './waiting-feeds.ts'

const BENCHMARKS: readonly Benchmark[] = [
  dropToStored,
  checkAlone,
  diff,
  conformance,
  eventLoop,
  waitingFeeds,
  latency,
  statusRows,
  campaigns,
  idle,
  startUp,
]
/** REASONS is a page about missed targets that people write, from profiles. */
const REASONS = join(import.meta.dirname, 'reasons.md')
const PAGE = join(import.meta.dirname, '..', 'docs', 'performance.md')

const USAGE = `npm run bench -- [options]
  --quick         under two minutes: 3 runs of less data
  --only NAME     one benchmark: ${BENCHMARKS.map(({ name }) => name).join(', ')}
  --runs N        paired runs of each measurement (5; with --quick 3)
  --up-to SIZE    largest feed (200MiB; up to 5GiB, which needs 20 GiB of disk)
  --documents N   damaged feeds that other judges judge as well (10,000; with --quick 1,000)
  --feeds DIR     damages the feeds in this folder as well
  --on DIR        a folder of the file system to measure on, for the program and its peers (the temporary folder)
  --json FILE     all figures with all their runs
  --docs          write docs/performance.md`

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    runs: { type: 'string' },
    'up-to': { type: 'string', default: '200MiB' },
    documents: { type: 'string' },
    feeds: { type: 'string' },
    on: { type: 'string', default: tmpdir() },
    json: { type: 'string' },
    docs: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) {
  console.log(USAGE)
} else {
  await measure()
}

async function measure(): Promise<void> {
  const chosen = BENCHMARKS.filter(({ name }) => [undefined, name].includes(options.only))
  const upTo = parseSize(options['up-to'])
  const runs = Number(options.runs ?? (options.quick ? 3 : 5))
  const documents = Number(options.documents ?? (options.quick ? 1_000 : 10_000))
  if (chosen.length === 0 || upTo === null || !(runs >= 1) || !(documents >= 1)) {
    console.error(USAGE)
    process.exitCode = 64
    return
  }
  const directory = mkdtempSync(join(options.on, 'feedsyncd-bench-'))
  process.once('SIGINT', () => process.exit(130))
  process.once('SIGTERM', () => process.exit(143))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  const facts = machineFacts(directory)
  const progress = (text: string) => process.stderr.write(`${text}\n`)
  const { quick, feeds = null } = options
  const bench: Bench = { quick, runs, upTo, documents, feeds, directory, progress }
  const results: Result[] = []
  for (const { name, title, run } of chosen) {
    results.push({ name, title, figures: await run(bench) })
  }
  for (const [name, fact] of Object.entries(facts)) console.log(`${name}: ${fact}`)
  console.log(`\n${tableOf(results)}`)
  if (options.json !== undefined) writeFileSync(options.json, jsonOf(results, facts))
  if (options.docs) {
    mkdirSync(dirname(PAGE), { recursive: true })
    const reasons = readFileSync(REASONS, 'utf8')
    writeFileSync(PAGE, pageOf(results, { facts, runs, reasons }))
  }
}
