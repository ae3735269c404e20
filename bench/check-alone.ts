// Measures the check alone on each shape of feed, in a worker as in the daemon, compared with `xmllint --stream` and
// xmlwf. The check runs with SHA-256, as in the command, and bare, without hashes; the target is for the bare check.
// Then this benchmark measures the whole command, from start to exit.

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { build } from 'rolldown'
import program from '../rolldown.config.ts'
import { answerHashOrder } from '../src/feed/hash-follower.ts'
import { type Bench, type Benchmark, elapsed, MB, repeat, temporaryFolder } from './bench.ts'
import { type Figure, figure, ratioOf } from './figures.ts'
import { SHAPES, type ShapeName, writeFeed } from './generator.ts'
import { shell, whyMissing } from './peers.ts'
import { installedProgram } from './program.ts'

export interface CheckerRequest {
  file: string
  hashes: boolean
  answerTo: MessagePort
}

/** CheckerAnswer is why a feed did not pass the check; null if it passed. */
export type CheckerAnswer = string | null

const XMLLINT = 'xmllint --stream --noout --huge "$1"'
const XMLWF = 'xmlwf -n "$1"'

export const checkAlone: Benchmark = {
  name: 'check',
  title: 'The check alone',
  run: async (bench) => {
    using folder = temporaryFolder(bench)
    const thread = join(folder.path, 'checker-thread.js')
    writeFileSync(join(folder.path, 'package.json'), '{ "type": "module" }')
    // Built with the program's settings, because Node's type stripping would slow down the thread.
    await build({
      ...program,
      input: { ...program.input, 'checker-thread': join(import.meta.dirname, 'checker-thread.ts') },
      output: { ...program.output, dir: folder.path, cleanDir: false },
      plugins: [],
      logLevel: 'warn',
    })
    const figures: Figure[] = []
    const ratios: number[] = []
    for (const shape of Object.keys(SHAPES) as ShapeName[]) {
      const [bare, ...others] = await figuresOfShape(bench, shape, thread)
      const ratio = ratioOf(bare)
      if (ratio !== null) ratios.push(ratio)
      figures.push(bare, ...others, await fromStartToExit(bench, shape))
    }
    if (ratios.length > 0) {
      const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length)
      const target = { of: 'value', atLeast: 2 } as const
      const note = 'geometric mean of the ratios to xmllint --stream, bare'
      figures.push(figure({ what: 'check, all shapes', unit: 'x' }, [mean], { target, note }))
    }
    return figures
  },
}

async function figuresOfShape(
  bench: Bench,
  shape: ShapeName,
  thread: string,
): Promise<[bare: Figure, ...others: Figure[]]> {
  using folder = temporaryFolder(bench)
  const feed = join(folder.path, 'feed.xml')
  writeFeed(feed, shape, { bytes: (bench.quick ? 10 : 100) * MB })
  const small = join(folder.path, 'small.xml')
  writeFeed(small, shape, { bytes: 4 * MB })
  await using checker = new Checker(thread)
  const { size } = statSync(feed)
  /** megabytesPerSecond returns bytes in thousands a millisecond, which is MB/s. */
  const megabytesPerSecond = async (work: () => Promise<void>) =>
    size / 1000 / (await elapsed(work))
  const noXmllint = whyMissing('xmllint')
  const noXmlwf = whyMissing('xmlwf')
  const bare: number[] = []
  const hashed: number[] = []
  const xmllint: number[] = []
  const xmlwf: number[] = []
  await checker.check({ file: small, hashes: true })
  await checker.check({ file: small, hashes: false })
  await repeat(bench, `the check alone, ${shape}`, async () => {
    if (noXmllint === null) xmllint.push(await megabytesPerSecond(() => shell(XMLLINT, feed)))
    bare.push(await megabytesPerSecond(() => checker.check({ file: feed, hashes: false })))
    hashed.push(await megabytesPerSecond(() => checker.check({ file: feed, hashes: true })))
    if (noXmlwf === null) xmlwf.push(await megabytesPerSecond(() => shell(XMLWF, feed)))
  })
  const beside = (name: string, runs: number[]) => (runs.length > 0 ? { name, runs } : null)
  const peer = beside('xmllint --stream', xmllint)
  const note = 'bare'
  return [
    figure({ what: `check, ${shape}`, unit: 'MB/s' }, bare, {
      peer,
      target: { of: 'ratio', atLeast: 1.75 },
      note: noXmllint ?? note,
    }),
    ...(noXmlwf === null
      ? [
          figure({ what: `check, ${shape}, beside xmlwf`, unit: 'MB/s' }, bare, {
            peer: beside('xmlwf', xmlwf),
          }),
        ]
      : []),
    figure({ what: `check with SHA-256, ${shape}`, unit: 'MB/s' }, hashed, { peer }),
  ]
}

async function fromStartToExit(bench: Bench, shape: ShapeName): Promise<Figure> {
  using folder = temporaryFolder(bench)
  const feed = join(folder.path, 'feed.xml')
  const megabytes = bench.quick ? 10 : 300
  writeFeed(feed, shape, { bytes: megabytes * MB })
  const { file, args, env } = installedProgram()
  const noXmllint = whyMissing('xmllint')
  const ours: number[] = []
  const xmllint: number[] = []
  await repeat(bench, `from start to exit, ${shape}`, async () => {
    if (noXmllint === null) xmllint.push(await elapsed(() => shell(XMLLINT, feed)))
    const options = { env: { ...process.env, ...env }, cwd: folder.path }
    ours.push(await elapsed(async () => void execFileSync(file, [...args, 'check', feed], options)))
  })
  const peer = xmllint.length > 0 ? { name: 'xmllint --stream', runs: xmllint } : null
  return figure({ what: `feedsyncd check, ${megabytes} MB, ${shape}`, unit: 'ms' }, ours, {
    peer,
    // The target is for 300 MB: the start of the program alone takes longer than xmllint with 10 MB.
    target: bench.quick ? null : { of: 'ratio', atMost: 1 },
    note: noXmllint ?? 'with SHA-256, from start to exit',
  })
}

class Checker implements AsyncDisposable {
  readonly #worker: Worker

  constructor(thread: string) {
    // The limits of the daemon's worker, because they change the cost of a check.
    const resourceLimits = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 256 }
    this.#worker = new Worker(thread, { resourceLimits }).on('message', answerHashOrder)
  }

  async check(request: Omit<CheckerRequest, 'answerTo'>): Promise<void> {
    const { port1, port2: answerTo } = new MessageChannel()
    this.#worker.postMessage({ ...request, answerTo } satisfies CheckerRequest, [answerTo])
    const [problem = null]: CheckerAnswer[] = await once(port1, 'message')
    port1.close()
    if (problem !== null) throw new Error(`a generated feed did not pass: ${problem}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate()
  }
}
