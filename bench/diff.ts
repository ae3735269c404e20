// Measures `feedsyncd diff` of two versions of a feed, compared with `feedsyncd check` of both versions. In one case,
// the newer version has lost its last postings; in the other, each posting has changed.

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, type Benchmark, elapsed, MB, repeat, temporaryFolder } from './bench.ts'
import { type Figure, figure } from './figures.ts'
import { writeFeed } from './generator.ts'
import { installedProgram } from './program.ts'

/** TIME is GNU time, which measures the peak memory of a program. */
const TIME = '/usr/bin/time'

/** The newer version has this share of the older version's bytes, and postings from this seed; the older has seed 1. */
const CASES = {
  'one posting of 50 is gone': { seed: 1, share: 0.98 },
  'each posting changed': { seed: 2, share: 1 },
}

export const diff: Benchmark = {
  name: 'diff',
  title: 'The difference of two versions',
  run: async (bench) => {
    const figures: Figure[] = []
    for (const [name, { seed, share }] of Object.entries(CASES))
      figures.push(...(await ofCase(bench, name, { seed, share })))
    return figures
  },
}

async function ofCase(
  bench: Bench,
  name: string,
  { seed, share }: { seed: number; share: number },
): Promise<Figure[]> {
  using folder = temporaryFolder(bench)
  const megabytes = bench.quick ? 10 : 200
  const size = megabytes * MB
  const [older, newer] = [join(folder.path, 'older.xml'), join(folder.path, 'newer.xml')]
  writeFeed(older, 'cdata', { bytes: size })
  writeFeed(newer, 'cdata', { bytes: size * share, seed })
  const { file, args, env } = installedProgram()
  const options = { env: { ...process.env, ...env }, cwd: folder.path }
  const hasTime = existsSync(TIME)
  const ours: number[] = []
  const checks: number[] = []
  const memory: number[] = []
  await repeat(bench, `diff, ${name}`, async () => {
    checks.push(
      await elapsed(async () => {
        for (const feed of [older, newer])
          execFileSync(file, [...args, 'check', feed], { ...options, stdio: 'ignore' })
      }),
    )
    const measure = hasTime ? [TIME, '-f', '%M'] : []
    const [program = '', ...rest] = [...measure, file, ...args, 'diff', older, newer]
    ours.push(
      await elapsed(async () => {
        const { status, stderr } = spawnSync(program, rest, { ...options, encoding: 'utf8' })
        // The last line on stderr comes from TIME.
        const kilobytes = Number(stderr.trim().split('\n').at(-1))
        if (status !== 2) throw new Error(`diff ended with ${status}: ${stderr}`)
        if (hasTime) memory.push((kilobytes * 1024) / MB)
      }),
    )
  })
  const what = `diff of ${megabytes} MB, ${name}`
  return [
    figure({ what, unit: 'ms' }, ours, {
      peer: { name: 'feedsyncd check, of both', runs: checks },
      target: { of: 'ratio', atMost: 2 },
    }),
    ...(hasTime
      ? [
          figure({ what: `peak memory of ${what}`, unit: 'MB' }, memory, {
            target: { of: 'value', atMost: 200 },
          }),
        ]
      : []),
  ]
}
