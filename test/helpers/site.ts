// The host of a vendor for one test: a sandbox, an inbox, a configuration, and real daemon processes.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Database from 'better-sqlite3'
import { inject } from 'vitest'
import type { ListFilter, State } from '../../src/history/port.ts'
import { openHistoryReader } from '../../src/history/tables.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { readDaemonFile } from '../../src/ops/daemon-file.ts'
import { statusReport } from '../../src/ops/report.ts'
import { type ShowReport, showReport, type UploadReport } from '../../src/ops/upload-report.ts'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts'
import { Command, type Ran } from './command.ts'
import { Ended, eventually, watchPlace } from './eventually.ts'

export type { Ran } from './command.ts'
export { feedOf, lettersOf } from './feed.ts'

/** The program as it is installed (build-program.ts). */
export const MAIN = inject('program')
export const SECRET = 'a-test-secret-that-must-never-be-printed'

export interface FeedEvent {
  /** Id of the version. */
  id: number
  /** Counted from 1 within the version. */
  n: number
  /** Wall ms. */
  at: number
  from: State | null
  to: State | 'seen'
  reason: string | null
}

export class Site implements AsyncDisposable {
  readonly root = mkdtempSync(join(tmpdir(), 'feedsyncd-test-'))
  readonly inbox = join(this.root, 'inbox')
  readonly configFile = join(this.root, 'feedsyncd.yaml')
  readonly sandbox: Sandbox
  /** Clock of the commands in this process. */
  clock: Clock
  /** The program that children run; a test can set its own copy. */
  program = MAIN
  /** Environment of every child, added to the environment of this process. */
  env: Record<string, string> = {}
  /** The folder for the daemon file. */
  readonly runtime = { RUNTIME_DIRECTORY: join(this.root, 'runtime') }
  readonly #objects: string
  readonly #children: ChildProcess[] = []
  readonly #commands: Command[] = []
  /** Output of each child on stdout and stderr so far. */
  readonly #output = new Map<ChildProcess, string>()
  readonly #unwatch: () => void

  private constructor(sandbox: Sandbox, objects: string, clock: Clock) {
    this.sandbox = sandbox
    this.clock = clock
    this.#objects = objects
    this.#unwatch = watchPlace(() => this.#happened())
  }

  static async open(
    config: Record<string, unknown> = {},
    {
      env = {},
      clock = systemClock,
      ...sandbox
    }: Partial<SandboxOptions> & { env?: Record<string, string> } = {},
  ): Promise<Site> {
    const directory = mkdtempSync(join(tmpdir(), 'feedsyncd-objects-'))
    const running = await startSandbox({
      directory,
      basePath: '/api',
      callers: [{ account: '123', secret: SECRET }],
      clock: { ...systemClock, now: clock.now },
      ...sandbox,
    })
    const site = new Site(running, directory, clock)
    site.env = env
    mkdirSync(site.inbox)
    mkdirSync(site.runtime.RUNTIME_DIRECTORY)
    writeFileSync(join(site.root, 'service.key'), `${SECRET}\n`, { mode: 0o600 })
    site.configure(config)
    return site
  }

  /** configure writes the configuration: the base that tests need, with `config` over it, section by section. */
  configure(config: Record<string, unknown>): void {
    const base: Record<string, object> = {
      service: { baseUrl: this.sandbox.url, account: '123', auth: { keyFile: 'service.key' } },
      inbox: { directory: './inbox', rescan: '1s', quietPeriod: '100ms' },
      // Most tests drop several feeds for one account.
      guards: { secondFeed: 'pass' },
      state: { directory: './state' },
    }
    const merged: Record<string, unknown> = { version: 1, ...base }
    for (const [section, keys] of Object.entries(config)) {
      merged[section] = Array.isArray(keys) ? keys : { ...base[section], ...(keys as object) }
    }
    writeFileSync(this.configFile, JSON.stringify(merged))
  }

  /** drop writes a whole file under another name and renames it into the inbox, as a careful writer does. */
  drop(name: string, bytes: string | Buffer): void {
    const path = join(this.inbox, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(`${path}.part`, bytes)
    renameSync(`${path}.part`, path)
  }

  /** run runs one command to its end: in this process, or in a child process if the site has its own environment. */
  run(...args: string[]): Promise<Ran> {
    return isEmpty(this.env) ? this.start(...args).ended : this.process(...args)
  }

  /** start starts a command in this process; the end of the site stops it. */
  start(...args: string[]): Command {
    const env = { ...process.env, ...this.runtime }
    const { clock } = this
    const command = new Command([...args, '--config', this.configFile], { clock, env })
    this.#commands.push(command)
    return command
  }

  /** process runs one command to its end in a child process. */
  process(...args: string[]): Promise<Ran> {
    return finished(this.spawn(...args))
  }

  /** holdReading makes later daemons wait before they read a file named `held*.xml`, until `release`. */
  holdReading(): { release: () => void } {
    const hold = join(this.root, 'hold')
    writeFileSync(hold, '')
    this.env = { ...this.env, ...preload('held-reading.ts'), FEEDSYNCD_TEST_HOLD: hold }
    return { release: () => rmSync(hold, { force: true }) }
  }

  /** spawn starts a command in a child process; the end of the site kills it. */
  spawn(...args: string[]): ChildProcess {
    return this.spawnBy([], ...args)
  }

  /** spawnBy starts a command in a child through another program, such as `unshare`, which then becomes the command. */
  spawnBy(starter: string[], ...args: string[]): ChildProcess {
    const own = [process.execPath, this.program, ...args, '--config', this.configFile]
    const [program = process.execPath, ...rest] = [...starter, ...own]
    const child = spawn(program, rest, {
      env: {
        ...{ ...process.env, NO_COLOR: '1' },
        ...{ ...this.runtime, ...this.env },
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#children.push(child)
    this.#output.set(child, '')
    for (const stream of [child.stdout, child.stderr]) {
      const keep = (text: string) => this.#output.set(child, this.#output.get(child) + text)
      stream.setEncoding('utf8').on('data', keep)
    }
    return child
  }

  /** expire writes into the database that the feed's incomplete versions are so since 1970, past `incompleteAfter`. */
  expire(feed: string): void {
    const database = new Database(join(this.root, 'state', 'feedsyncd.db'))
    database.prepare('UPDATE versions SET incomplete_since = 1 WHERE feed = ?').run(feed)
    database.close()
  }

  /** logged waits until a command has written the n-th line (default: the first) that contains this text. */
  async logged(child: ChildProcess | Command, text: string, nth = 1): Promise<string> {
    const look = () => {
      const output = child instanceof Command ? child.output : this.#output.get(child)
      const lines = output?.split('\n') ?? []
      // The last piece is not yet a whole line.
      const line = lines.slice(0, -1).filter((each) => each.includes(text))[nth - 1]
      if (line !== undefined) return line
      if (child.exitCode !== null) throw new Ended(`the process ended with ${child.exitCode}`)
      throw new Error(`"${text}" is not there ${nth} times: ${lines.slice(-10).join('\n')}`)
    }
    return eventually(look)
  }

  /** daemon starts a daemon in this process and waits for its first listing. */
  async daemon(): Promise<Command> {
    if (!isEmpty(this.env)) throw new Error('a site with its own environment needs daemonProcess')
    const daemon = this.start('run')
    await this.logged(daemon, 'daemon started')
    return daemon
  }

  /** daemonProcess starts a daemon in a child process, for a test that kills it or sets its environment. */
  async daemonProcess(): Promise<ChildProcess> {
    const child = this.spawn('run')
    await this.logged(child, 'daemon started')
    return child
  }

  /** uploads returns the uploads of `status --json` without a process, so that a test can wait for a state. */
  uploads(filter: ListFilter = {}): UploadReport[] {
    const state = join(this.root, 'state')
    using history = openHistoryReader({ file: join(state, 'feedsyncd.db') })
    return statusReport(
      history,
      { running: true, state: readDaemonFile(state, this.runtime) },
      { baseUrl: this.sandbox.url, filter },
    ).uploads
  }

  show(id: number): ShowReport {
    using history = openHistoryReader({ file: join(this.root, 'state', 'feedsyncd.db') })
    const report = history && showReport(history, id)
    if (report === null) throw new Error(`there is no version ${id}`)
    return report
  }

  /** events returns every event of a feed's versions, by version and then by time. */
  events(feed: string): FeedEvent[] {
    using history = openHistoryReader({ file: join(this.root, 'state', 'feedsyncd.db') })
    const versions = history?.list({ feed, all: true }).toReversed() ?? []
    return versions.flatMap(
      ({ id }) => history?.events(id).map((event, n) => ({ id, n: n + 1, ...event })) ?? [],
    )
  }

  /**
   * passed waits for a step in the history of a feed: the n-th (default: the first) to this state, or the n-th after
   * the event `after`, in the same or a later version. It also finds a step that the feed made long ago.
   */
  async passed(
    feed: string,
    to: FeedEvent['to'],
    { nth = 1, after }: { nth?: number; after?: FeedEvent | undefined } = {},
  ): Promise<FeedEvent> {
    const isLater = ({ id, n }: FeedEvent) =>
      after === undefined || id > after.id || (id === after.id && n > after.n)
    const look = () => {
      const events = this.events(feed)
      const found = events.filter((event) => event.to === to && isLater(event))[nth - 1]
      if (found !== undefined) return found
      const seen = events.map((event) => `${event.id}:${event.to}`).join(' ')
      throw new Error(`${feed} was not ${to} ${nth} times: ${seen || 'no events'}`)
    }
    return eventually(look)
  }

  /** lastEvent returns the newest event of the feed's newest version. */
  lastEvent(feed: string): FeedEvent | undefined {
    return this.events(feed).at(-1)
  }

  /**
   * until waits until a feed's newest version is in this state and, if `sha256` is given, has this content. For a state
   * that the version soon leaves or has left, use `passed`.
   */
  async until(feed: string, state: State, sha256?: string): Promise<UploadReport> {
    const look = () => {
      const [newest] = this.uploads({ feed })
      if (newest?.state !== state || (sha256 && newest.sha256 !== sha256)) {
        throw new Error(`${feed} is ${newest?.state ?? 'unknown'}: ${newest?.reason}`)
      }
      return newest
    }
    return eventually(look)
  }

  /** untilWaiting waits until a feed's newest version, with this content if given, waits for its next attempt. */
  async untilWaiting(feed: string, sha256?: string): Promise<UploadReport> {
    const look = () => {
      const [newest] = this.uploads({ feed })
      const isWaiting = newest?.state === 'queued' && newest.nextAttemptAt !== null
      if (!isWaiting || (sha256 && newest.sha256 !== sha256))
        throw new Error(`${feed} is ${newest?.state ?? 'unknown'}: ${newest?.reason}`)
      return newest
    }
    return eventually(look)
  }

  /** #happened returns a number that grows with each output of a command and each step of a request to the sandbox. */
  #happened(): number {
    const said = [...this.#commands.map(({ output }) => output), ...this.#output.values()]
    const requests = this.sandbox.requests()
    return (
      said.join('').length +
      requests.filter(({ endedAt }) => endedAt !== null).length +
      requests.length
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unwatch()
    for (const command of this.#commands) {
      // The second signal aborts running uploads.
      command.kill('SIGTERM')
      command.kill('SIGTERM')
      await command.ended
    }
    for (const child of this.#children) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await new Promise((resolve) => child.once('exit', resolve))
      }
    }
    await this.sandbox.close()
    for (const directory of [this.root, this.#objects]) {
      rmSync(directory, { recursive: true, force: true })
    }
  }
}

/** preload returns an environment in which a child first runs these modules of this folder, in each of its threads. */
export function preload(...modules: string[]): Record<string, string> {
  const urls = modules.map((module) => pathToFileURL(join(import.meta.dirname, module)))
  return { NODE_OPTIONS: urls.map((url) => `--import=${url}`).join(' ') }
}

function isEmpty(object: object): boolean {
  return Object.keys(object).length === 0
}

/** finished resolves when a command has ended. Of a child process, it has the output after the call. */
export async function finished(child: ChildProcess | Command): Promise<Ran> {
  if (child instanceof Command) return child.ended
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk) => (stdout += chunk))
  child.stderr?.setEncoding('utf8').on('data', (chunk) => (stderr += chunk))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, stdout, stderr }
}
