// What the daemon says of itself: one small file, which `status` and other commands read. Under the unit it lies in the
// runtime directory, so that a full, read-only or lost state directory is told all the same, and the state directory has
// a link to it. Elsewhere it lies in the state directory itself.

import { hash } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { errorCode } from '../lib/errors.ts'
import { userName } from '../lib/user.ts'
import type { DaemonState } from './port.ts'

/** As it is written. */
interface StoredState extends DaemonState {
  /** Ticks from boot to the start of the process (proc(5), field 22); null where the system does not tell. */
  startTicks: string | null
  /** Absolute path: a copy of a state directory has a link to the file of another one. */
  stateDirectory: string
}

/** In the state directory: the file, or the link to it. */
const NAME = 'daemon.json'
/** Of the packaged unit: readers do not have its environment. */
const UNIT_DIRECTORY = '/run/feedsyncd'
/** Any number of paths may be skipped, and their names may be long. */
const MOST_BYTES = 64 * 1024 * 1024
const READ_WITHOUT_BLOCKING = constants.O_RDONLY | constants.O_NONBLOCK

export class DaemonFile {
  readonly #env: NodeJS.ProcessEnv
  readonly #stateDirectory: string
  readonly #startTicks: string | null
  readonly #writesFile: boolean
  #current: DaemonState

  /** `writesFile` false: this process is no daemon, and leaves no file. */
  constructor({
    env,
    writesFile,
    pid,
    stateDirectory,
    startedAt,
  }: {
    env: NodeJS.ProcessEnv
    writesFile: boolean
    pid: number
    stateDirectory: string
    /** Wall ms. */
    startedAt: number
  }) {
    this.#env = env
    this.#writesFile = writesFile
    this.#stateDirectory = resolve(stateDirectory)
    this.#startTicks = startTicksOf(pid)
    this.#current = {
      pid,
      user: userName(),
      startedAt,
      heartbeatAt: startedAt,
      lastScanAt: null,
      mode: null,
      modeReason: null,
      service: 'unknown',
      serviceReason: null,
      nextProbeAt: null,
      clockSkewMs: null,
      conditions: [],
      checks: null,
      uploads: {},
      unfinished: [],
      ignored: { count: 0, paths: [] },
      skipped: [],
    }
    this.#write()
  }

  get current(): DaemonState {
    return this.#current
  }

  /** Never throws: the file is written where it can be, and else nowhere. */
  update(patch: Partial<DaemonState>): void {
    this.#current = { ...this.#current, ...patch }
    this.#write()
  }

  #write(): void {
    if (!this.#writesFile) return
    const [startTicks, stateDirectory] = [this.#startTicks, this.#stateDirectory]
    const text = JSON.stringify({
      ...this.#current,
      startTicks,
      stateDirectory,
    } satisfies StoredState)
    const inState = join(stateDirectory, NAME)
    const [folder = ''] = (this.#env.RUNTIME_DIRECTORY ?? '').split(':')
    const inRuntime = join(folder, runtimeFileName(stateDirectory))
    if (folder === '' || !tryWrite(inRuntime, text)) tryWrite(inState, text)
    else tryLink(inState, inRuntime)
  }
}

/**
 * What the daemon of this state directory said last; null where none has said anything. A dead one is heard of the last
 * listing, and of a database that it lost: until the next start nobody else can tell.
 */
export function readDaemonFile(
  stateDirectory: string,
  env: NodeJS.ProcessEnv,
): (DaemonState & { alive: boolean }) | null {
  const directory = resolve(stateDirectory)
  const [folder = ''] = (env.RUNTIME_DIRECTORY ?? '').split(':')
  const places = [
    join(directory, NAME),
    join(folder || UNIT_DIRECTORY, runtimeFileName(directory)),
    join(UNIT_DIRECTORY, runtimeFileName(directory)),
  ]
  const found = places
    .map(readFrom)
    .filter((file) => file !== null)
    .filter((file) => file.stateDirectory === directory)
  const living = found.find(isAlive)
  if (living !== undefined) return { ...living, alive: true }
  const [last] = found.toSorted((a, b) => b.startedAt - a.startedAt)
  if (last === undefined) return null
  const conditions = last.conditions.filter(({ code }) => code === 'database-lost')
  return { ...last, alive: false, conditions, uploads: {} }
}

/** The directory is part of the name: two daemons of a host may write beside each other. */
function runtimeFileName(stateDirectory: string): string {
  return `daemon-${hash('sha256', stateDirectory).slice(0, 16)}.json`
}

function tryWrite(path: string, text: string): boolean {
  return tryReplace(path, (draft) => writeFileSync(draft, text, { flag: 'wx', mode: 0o640 }))
}

/** A person's shell has no RUNTIME_DIRECTORY. */
function tryLink(path: string, target: string): void {
  try {
    if (readlinkSync(path) === target) return
  } catch {
    // It is no link yet.
  }
  tryReplace(path, (draft) => symlinkSync(target, draft))
}

function tryReplace(path: string, make: (draft: string) => void): boolean {
  const draft = `${path}.${process.pid}.tmp`
  try {
    // Of a process of this number that did not come to its end.
    rmSync(draft, { force: true })
    make(draft)
    renameSync(draft, path)
    return true
  } catch {
    return false
  }
}

function readFrom(path: string): StoredState | null {
  try {
    using owned = new DisposableStack()
    const descriptor = owned.adopt(openSync(path, READ_WITHOUT_BLOCKING), closeSync)
    const stats = fstatSync(descriptor)
    if (!stats.isFile() || stats.size > MOST_BYTES) return null
    return JSON.parse(readFileSync(descriptor, 'utf8')) as StoredState | null
  } catch {
    return null
  }
}

/** The process that wrote it: another one may have its number by now. */
function isAlive({ pid, startTicks }: StoredState): boolean {
  const now = startTicksOf(pid)
  if (now !== null && startTicks !== null) return now === startTicks
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}

/** The name in parentheses may hold anything. */
function startTicksOf(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}
