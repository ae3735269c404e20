// The installed program: dist/main.js with the flags of its first line, run by the project's Node. It is built again if
// a source is newer than the build.

import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const MAIN = join(ROOT, 'dist', 'main.js')

export interface Program {
  file: string
  /** args come before the program's own arguments. */
  args: readonly string[]
  /** env is added to the environment. */
  env: Record<string, string>
}

let program: Program | null = null

/** installedProgram returns the program. Its first call builds the program if a source is newer than the build. */
export function installedProgram(): Program {
  program ??= programOf(buildIfNeeded())
  return program
}

/** describeProgram returns the command line without paths of this host, for the table. */
export function describeProgram({ args, env }: Program): string {
  const assignments = Object.entries(env).map((entry) => entry.join('='))
  return [...assignments, 'node', ...args.slice(0, -1), 'dist/main.js'].join(' ')
}

/** buildIfNeeded builds the program if a source is newer than the build, and returns the path of the build. */
function buildIfNeeded(): string {
  const sources = globSync('src/**/*.{ts,json}', { cwd: ROOT })
  const changedAt = Math.max(...sources.map((name) => modifiedAt(join(ROOT, name))))
  if (modifiedAt(MAIN) < changedAt)
    execFileSync('npm', ['run', '-s', 'build'], { cwd: ROOT, stdio: 'inherit' })
  return MAIN
}

/** modifiedAt returns the wall ms of the last change of a file; 0 if the file is missing. */
function modifiedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** programOf reads the first line as the kernel and `env -S` would: assignments, the interpreter, its flags. */
function programOf(main: string): Program {
  const [first = ''] = readFileSync(main, 'utf8').split('\n', 1)
  const words = first.split(' ')
  const args = [...words.filter((word) => word.startsWith('--')), main]
  const assignments = words.filter((word) => /^\w+=/.test(word)).map((word) => word.split('='))
  return { file: process.execPath, args, env: Object.fromEntries(assignments) }
}
