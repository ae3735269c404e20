// The peers, all from Debian packages: finds the installed ones, says how to install the others, and runs them.

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

/** whyMissing returns which packages bring the missing peers, as a note for a figure; null if no peer is missing. */
export function whyMissing(...peers: readonly Peer[]): string | null {
  const absent = peers.filter((peer) => spawnSync('which', [peer]).status !== 0)
  if (absent.length === 0) return null
  const packages = [...new Set(absent.map((peer) => PACKAGES[peer]))]
  return `no peer: apt-get install ${packages.join(' ')}`
}

/** versionOf returns the first line of a peer's `--version`; null if the peer is missing. */
export function versionOf(peer: Peer): string | null {
  const { stdout, stderr, status } = spawnSync(peer, ['--version'], { encoding: 'utf8' })
  return status === 0 ? (`${stdout}${stderr}`.split('\n', 1)[0] ?? null) : null
}

/** shell runs a line of shell with `$1`, `$2`, ... and rejects if the exit code is not 0. */
export async function shell(line: string, ...args: readonly string[]): Promise<void> {
  const child = spawn('sh', ['-c', `set -e; ${line}`, 'sh', ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`the peer ended with ${code}: ${line}`)
}

/** RunningShell runs a line of shell until its disposal, which also ends all processes of the line. */
export class RunningShell implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #closed: Promise<unknown>

  private constructor(child: ChildProcess) {
    this.#child = child
    this.#closed = once(child, 'close')
  }

  /** start runs the line and resolves when it has written `ready` to stderr. Throws if the line ends before that. */
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
