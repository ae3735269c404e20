// What a running daemon says of itself where it can still be written: a small file in the runtime directory,
// since the state directory may be full, read-only or gone. It is about a process: once that is gone, it says
// nothing any more of conditions, and still where the last start had its state.

import { hash } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  globSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Condition } from '../lib/conditions.ts'
import { errorCode } from '../lib/errors.ts'
import type { Progress } from '../lib/units.ts'

export interface DaemonFile {
  pid: number
  /** Ticks from boot to the start of the process (proc(5), field 22); null where the system does not tell. */
  startTicks: string | null
  /** Absolute paths. */
  stateDirectory: string
  configFile: string
  /** Wall ms at which it was written. */
  at: number
  conditions: readonly Condition[]
  /** Uploads that run, by id of the version. */
  uploads: Readonly<Record<number, Progress>>
}

/** Of the packaged unit: readers do not have its environment. */
const UNIT_DIRECTORY = '/run/feedsyncd'
const LARGEST = 64 * 1024
/** Through no link, and without waiting for the other end of a pipe. */
const UNLINKED = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** What it answers never throws: the file is written where it can be, and else nowhere. */
export function daemonFileWriter(
  about: Pick<DaemonFile, 'stateDirectory' | 'configFile'>,
  { env, pid }: { env: NodeJS.ProcessEnv; pid: number },
) {
  const stateDirectory = resolve(about.stateDirectory)
  const configFile = resolve(about.configFile)
  const facts = { pid, startTicks: startTicksOf(pid), stateDirectory, configFile }
  return (
    conditions: readonly Condition[],
    at: number,
    uploads: DaemonFile['uploads'] = {},
  ): void => {
    const file: DaemonFile = { ...facts, at, conditions, uploads }
    const text = JSON.stringify(file)
    foldersToWrite(env).some((folder) => written(folder, nameOf(stateDirectory), text))
  }
}

/**
 * What the daemon of this state directory said last; null where none lives that said anything. A dead one is heard
 * only of a database that it lost: until the next start nobody else can tell.
 */
export function readDaemonFile(
  stateDirectory: string,
  env: NodeJS.ProcessEnv,
): (DaemonFile & { alive: boolean }) | null {
  const directory = resolve(stateDirectory)
  const owner = ownerOf(directory)
  const found = foldersToRead(env, owner)
    .map((folder) => readFrom(join(folder, nameOf(directory)), owner))
    .filter((file) => file !== null && file.stateDirectory === directory)
  const file = newest(found)
  if (file === null) return null
  if (isAlive(file)) return { ...file, alive: true }
  const lost = file.conditions.filter(({ code }) => code === 'database-lost')
  return lost.length === 0 ? null : { ...file, alive: false, conditions: lost }
}

/** null where nothing can be seen there; what is wrong with it is for others to say. */
function ownerOf(directory: string): number | null {
  try {
    return statSync(directory).uid
  } catch {
    return null
  }
}

/** Where the last start with this configuration file had its state; null where that is not known. */
export function lastStateDirectory(configFile: string, env: NodeJS.ProcessEnv): string | null {
  const file = resolve(configFile)
  const found = foldersToRead(env, null).flatMap((folder) => {
    const names = globSync('daemon-*.json', { cwd: folder })
    return names.map((name) => readFrom(join(folder, name), null))
  })
  return newest(found.filter((each) => each?.configFile === file))?.stateDirectory ?? null
}

/** The directory is part of the name, not of its path: two daemons of a host write beside each other. */
function nameOf(stateDirectory: string): string {
  return `daemon-${hash('sha256', stateDirectory).slice(0, 16)}.json`
}

function foldersToWrite(env: NodeJS.ProcessEnv): string[] {
  const { RUNTIME_DIRECTORY: unit = '', XDG_RUNTIME_DIR: user } = env
  const [ofUnit = ''] = unit.split(':')
  const ofUser = user ? join(user, 'feedsyncd') : ''
  const ofEverybody = join(tmpdir(), `feedsyncd-${process.getuid?.() ?? 0}`)
  return [ofUnit, ofUser, ofEverybody].filter((folder) => folder !== '')
}

/** Whoever asks may be another user than the daemon's. */
function foldersToRead(env: NodeJS.ProcessEnv, owner: number | null): string[] {
  const users = [process.getuid?.() ?? 0, ...(owner === null ? [] : [owner])]
  const ofUsers = users.flatMap((uid) => [
    `/run/user/${uid}/feedsyncd`,
    join(tmpdir(), `feedsyncd-${uid}`),
    `/tmp/feedsyncd-${uid}`,
  ])
  return [...new Set([...foldersToWrite(env), UNIT_DIRECTORY, ...ofUsers])]
}

function written(folder: string, name: string, text: string): boolean {
  const draft = join(folder, `.${name}.${process.pid}.tmp`)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    // Another user may have made a folder of this name among temporary files.
    if (statSync(folder).uid !== (process.getuid?.() ?? 0)) return false
    // Of a process of this number that did not come to its end.
    rmSync(draft, { force: true })
    writeFileSync(draft, text, { flag: 'wx', mode: 0o640 })
    renameSync(draft, join(folder, name))
    return true
  } catch {
    return false
  }
}

/** Only what root, the reader or the owner of the state wrote is believed. */
function readFrom(path: string, owner: number | null): DaemonFile | null {
  try {
    using owned = new DisposableStack()
    const descriptor = owned.adopt(openSync(path, UNLINKED), closeSync)
    const stats = fstatSync(descriptor)
    const trusted = [0, process.getuid?.() ?? 0, owner]
    const isOurs = trusted.includes(stats.uid) || path.startsWith(`${UNIT_DIRECTORY}/`)
    if (!isOurs || !stats.isFile() || stats.size > LARGEST) return null
    return JSON.parse(readFileSync(descriptor, 'utf8')) as DaemonFile
  } catch {
    return null
  }
}

function newest(files: readonly (DaemonFile | null)[]): DaemonFile | null {
  return files.reduce((best, file) => ((file?.at ?? 0) > (best?.at ?? 0) ? file : best), null)
}

/** The process that wrote it: another one may have its number by now. */
function isAlive({ pid, startTicks }: DaemonFile): boolean {
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
