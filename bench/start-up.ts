// Measures the start of a command: CPU time and wall time of `feedsyncd status` on a short history, compared with Node
// alone. The command runs with Node's compile cache, as in a checkout, and without the cache, as for users of a
// package, who cannot write beside the program.

import { spawnSync } from 'node:child_process'
import { type Bench, type Benchmark, repeat } from './bench.ts'
import { figure } from './figures.ts'
import { installedProgram } from './program.ts'
import { Sink } from './sink.ts'
import { Site } from './site.ts'

/** TIMES repeats each short command, because single runs differ a lot. */
const TIMES = 5

export const startUp: Benchmark = {
  name: 'start-up',
  title: 'Start-up of a command',
  run: async (bench: Bench) => {
    await using sink = await Sink.start()
    await using site = new Site(bench, sink)
    await site.start(['run', '--once']).end()
    const { file, args, env } = installedProgram()
    const ours: Cost[] = []
    const uncached: Cost[] = []
    const node: Cost[] = []
    await repeat(bench, 'start-up', async () => {
      node.push(costOf({}, file, '-e', '0'))
      const status = [file, ...args, 'status', '--config', site.configFile]
      ours.push(costOf(env, ...status))
      uncached.push(costOf({ ...env, NODE_DISABLE_COMPILE_CACHE: '1' }, ...status))
    })
    const peer = (pick: (cost: Cost) => number) => ({ name: 'node -e 0', runs: node.map(pick) })
    return [
      figure({ what: 'start-up of status, CPU time', unit: 'ms' }, ours.map(cpu), {
        peer: peer(cpu),
        target: { of: 'value', atMost: 150 },
      }),
      figure(
        { what: 'start-up of status, nothing compiled before, CPU time', unit: 'ms' },
        uncached.map(cpu),
        {
          peer: peer(cpu),
        },
      ),
      figure({ what: 'start-up of status, wall time', unit: 'ms' }, ours.map(wall), {
        peer: peer(wall),
      }),
    ]
  },
}

interface Cost {
  cpu: number
  wall: number
}

const cpu = (cost: Cost) => cost.cpu
const wall = (cost: Cost) => cost.wall

/** costOf returns the mean cost of a command in ms, as bash's `time` counts it. */
function costOf(env: Record<string, string>, ...command: readonly string[]): Cost {
  const script = `TIMEFORMAT='%R %U %S'; time for n in {1..${TIMES}}; do "$@" >/dev/null || exit 1; done`
  const { stderr, status } = spawnSync('bash', ['-c', script, 'bash', ...command], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  const [real = 0, user = 0, system = 0] =
    stderr.trim().split('\n').at(-1)?.split(' ').map(Number) ?? []
  if (status !== 0) throw new Error(`${command.join(' ')} failed: ${stderr}`)
  return { cpu: ((user + system) * 1000) / TIMES, wall: (real * 1000) / TIMES }
}
