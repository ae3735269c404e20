// The peers, all from Debian packages: which are here, how to get the others, and how to run one.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'

const PACKAGES = {
  cp: 'coreutils',
  curl: 'curl',
  inotifywait: 'inotify-tools',
  sha256sum: 'coreutils',
  xmllint: 'libxml2-utils',
  xmlwf: 'expat',
} as const

export type Peer = keyof typeof PACKAGES

/** A sentence about the first peer that is not installed; null: all are. */
export function missing(...peers: readonly Peer[]): string | null {
  const absent = peers.filter((peer) => spawnSync('which', [peer]).status !== 0)
  if (absent.length === 0) return null
  const packages = [...new Set(absent.map((peer) => PACKAGES[peer]))]
  return `no peer: apt-get install ${packages.join(' ')}`
}

/** First line of what `--version` says. */
export function versionOf(peer: Peer): string | null {
  const { stdout, stderr, status } = spawnSync(peer, ['--version'], { encoding: 'utf8' })
  return status === 0 ? (`${stdout}${stderr}`.split('\n', 1)[0] ?? null) : null
}

/** Runs a line of shell with `$1`, `$2`, ... and throws unless it ends with 0. */
export async function shell(line: string, ...args: readonly string[]): Promise<void> {
  const child = spawn('sh', ['-c', `set -e; ${line}`, 'sh', ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`the peer ended with ${code}: ${line}`)
}

/** A line of shell that runs until it is disposed of, with all that it started. */
export class RunningShell implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #closed: Promise<unknown>

  private constructor(child: ChildProcess) {
    this.#child = child
    this.#closed = once(child, 'close')
  }

  /** Waits until it says `ready` on stderr. */
  static async start(ready: string, line: string, ...args: string[]): Promise<RunningShell> {
    const child = spawn('sh', ['-c', line, 'sh', ...args], {
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const running = new RunningShell(child)
    for await (const said of child.stderr ?? []) if (String(said).includes(ready)) return running
    throw new Error(`the peer ended: ${line}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.kill(-(this.#child.pid ?? 0), 'SIGKILL')
    await this.#closed
  }
}
