// A vendor's host for one run: an empty inbox, a configuration with the sink as its service, and the installed program
// as a real process. Disposal removes everything.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, sharedNow } from './bench.ts'
import { installedProgram } from './program.ts'
import type { Sink } from './sink.ts'

export const QUIET_MS = 100

export class Site implements AsyncDisposable {
  readonly root: string
  readonly inbox: string
  readonly configFile: string
  readonly #children: RunningProgram[] = []

  constructor(bench: Bench, sink: Pick<Sink, 'url'>, inbox: Record<string, unknown> = {}) {
    this.root = mkdtempSync(join(bench.directory, 'site-'))
    this.inbox = join(this.root, 'inbox')
    this.configFile = join(this.root, 'feedsyncd.yaml')
    mkdirSync(this.inbox)
    writeFileSync(join(this.root, 'service.key'), 'secret\n', { mode: 0o600 })
    const config = {
      version: 1,
      service: { baseUrl: sink.url, account: '123', auth: { keyFile: 'service.key' } },
      inbox: { directory: './inbox', quietPeriod: `${QUIET_MS}ms`, ...inbox },
      // Names that differ only in numbers would look alike.
      feeds: [{ match: 'feed-{1}.xml', name: 'feed-{1}' }],
      guards: { secondFeed: 'pass' },
      state: { directory: './state' },
    }
    writeFileSync(this.configFile, JSON.stringify(config))
  }

  get database(): string {
    return join(this.root, 'state', 'feedsyncd.db')
  }

  /** drop renames a file into the inbox, as a careful writer does, and returns the shared ms of the rename. */
  drop(file: string, name: string): number {
    const at = sharedNow()
    renameSync(file, join(this.inbox, name))
    return at
  }

  /** start runs a command of the installed program. `nodeFlags` come before the program's own flags. */
  start(
    args: readonly string[],
    nodeFlags: readonly string[] = [],
    env: Record<string, string> = {},
  ): RunningProgram {
    const { file, args: before, env: own } = installedProgram()
    const child = spawn(file, [...nodeFlags, ...before, ...args, '--config', this.configFile], {
      env: { ...process.env, ...own, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const running = new RunningProgram(child)
    this.#children.push(running)
    return running
  }

  /** daemon starts a daemon that watches the inbox, and waits for the end of its first listing. */
  async daemon(
    nodeFlags: readonly string[] = [],
    env: Record<string, string> = {},
  ): Promise<RunningProgram> {
    const daemon = this.start(['run'], nodeFlags, env)
    await daemon.untilPrinted('daemon started')
    return daemon
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) await child.kill()
    rmSync(this.root, { recursive: true, force: true })
  }
}

export class RunningProgram {
  readonly #child: ChildProcess
  readonly #closed: Promise<unknown>
  #errors = ''

  constructor(child: ChildProcess) {
    this.#child = child
    this.#closed = once(child, 'close')
    child.stdout?.resume()
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text
    })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** untilPrinted resolves when one piece of stdout contains the text. Rejects if the process ends before that. */
  async untilPrinted(text: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#child.stdout?.on('data', (chunk) => String(chunk).includes(text) && resolve())
    this.#child.once('close', () => reject(new Error(`it ended before "${text}": ${this.#errors}`)))
    await promise
  }

  /** peakMemory returns the largest resident set since the start, in MB (10^6 bytes). */
  peakMemory(): number {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8')
    return (Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024) / 1e6
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  /** end waits for the end of the process and rejects if its exit code is not 0. */
  async end(): Promise<void> {
    await this.#closed
    const { exitCode, signalCode } = this.#child
    if (exitCode !== 0) throw new Error(`it ended with ${exitCode ?? signalCode}: ${this.#errors}`)
  }

  async stop(): Promise<void> {
    this.signal('SIGTERM')
    await this.end()
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.#closed
  }
}
