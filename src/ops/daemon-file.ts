// The daemon's state in one small file, which `status` and other commands read. Under systemd the file is in the
// runtime directory and the state directory has a link to it. So the daemon can report that the state directory is
// full, read-only or lost. Without systemd the file is in the state directory.

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

/** StoredState is the content of the file. */
interface StoredState extends DaemonState {
  /** Ticks from boot to the start of the process (proc(5), field 22); null if the system has no /proc. */
  startTicks: string | null
  /** Absolute path of the writer's state directory: the link in a copied directory leads to the original's file. */
  stateDirectory: string
}

/** The name of the file in the state directory, or of the link to the file. */
const NAME = 'daemon.json'
/** The runtime directory of the packaged unit, for a person's shell, which has no RUNTIME_DIRECTORY. */
const UNIT_DIRECTORY = '/run/feedsyncd'
/** A larger file is not read. The limit is high because the file names all skipped paths. */
const MOST_BYTES = 64 * 1024 * 1024
const READ_WITHOUT_BLOCKING = constants.O_RDONLY | constants.O_NONBLOCK

/** DaemonFile holds the daemon's state, which the constructor and each update write to the file. */
export class DaemonFile {
  readonly #env: NodeJS.ProcessEnv
  readonly #stateDirectory: string
  readonly #startTicks: string | null
  readonly #writesFile: boolean
  #current: DaemonState

  constructor({
    env,
    writesFile,
    pid,
    stateDirectory,
    startedAt,
    startWith = null,
    logFile = null,
  }: {
    env: NodeJS.ProcessEnv
    /** False for a command that is not the daemon: its state stays in memory. */
    writesFile: boolean
    pid: number
    stateDirectory: string
    /** Wall ms. */
    startedAt: number
    startWith?: string | null
    logFile?: string | null
  }) {
    this.#env = env
    this.#writesFile = writesFile
    this.#stateDirectory = resolve(stateDirectory)
    this.#startTicks = startTicksOf(pid)
    this.#current = { ...firstState(startedAt), pid, user: userName(), startWith, logFile }
    this.#write()
  }

  get current(): DaemonState {
    return this.#current
  }

  /**
   * update changes the state and writes it. It never throws: if the file cannot be written anywhere, only memory has
   * the new state.
   */
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
    const folder = runtimeDirectory(this.#env)
    const inRuntime = join(folder, runtimeFileName(stateDirectory))
    if (folder === '' || !tryWrite(inRuntime, text)) tryWrite(inState, text)
    else tryLink(inState, inRuntime)
  }
}

/** lostState stands for the state of a daemon whose file is gone. */
export const lostState = (): DaemonState => firstState(0)

function firstState(startedAt: number): DaemonState {
  return {
    ...{ pid: 0, user: '', startWith: null, logFile: null, startedAt, heartbeatAt: startedAt },
    ...{ lastScanAt: null, mode: null, modeReason: null },
    ...({ service: 'unknown', serviceReason: null, serviceSince: startedAt } as const),
    ...{ nextProbeAt: null, clockSkewMs: null, conditions: [], checks: null, uploads: {} },
    ...{ unfinished: [], ignored: { count: 0, paths: [] }, skipped: [] },
  }
}

/**
 * readDaemonFile returns the last state that the daemon of this state directory wrote, or null if there is none. Of a
 * daemon that has ended, it leaves out the uploads and all conditions but `database-lost`, which only this file
 * records.
 */
export function readDaemonFile(
  stateDirectory: string,
  env: NodeJS.ProcessEnv,
): (DaemonState & { alive: boolean }) | null {
  const directory = resolve(stateDirectory)
  const places = [
    join(directory, NAME),
    join(runtimeDirectory(env) || UNIT_DIRECTORY, runtimeFileName(directory)),
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

/** runtimeDirectory returns the first folder that systemd made for the unit; an empty text outside of a unit. */
export function runtimeDirectory({ RUNTIME_DIRECTORY = '' }: NodeJS.ProcessEnv): string {
  return RUNTIME_DIRECTORY.split(':')[0] ?? ''
}

/**
 * runtimeFileName depends on the state directory, because several daemons of a host can share the runtime directory.
 */
function runtimeFileName(stateDirectory: string): string {
  return `daemon-${hash('sha256', stateDirectory).slice(0, 16)}.json`
}

function tryWrite(path: string, text: string): boolean {
  return tryReplace(path, (draft) => writeFileSync(draft, text, { flag: 'wx', mode: 0o640 }))
}

function tryLink(path: string, target: string): void {
  try {
    if (readlinkSync(path) === target) return
  } catch {
    // The link does not exist yet.
  }
  tryReplace(path, (draft) => symlinkSync(target, draft))
}

function tryReplace(path: string, make: (draft: string) => void): boolean {
  const draft = `${path}.${process.pid}.tmp`
  try {
    // A killed process with the same pid might have left its draft.
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

/** isAlive compares the start time too, because a new process can have the same pid. */
function isAlive({ pid, startTicks }: StoredState): boolean {
  const now = startTicksOf(pid)
  if (now !== null && startTicks !== null) return now === startTicks
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}

/**
 * startTicksOf returns the ticks from boot to the start of a process (proc(5), field 22); null if there is no such
 * process or no /proc. It looks behind the last ")", because the name of the process can contain spaces and
 * parentheses.
 */
function startTicksOf(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}
