// The libraries of the program by the lock file, and the files of one that stays a package.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FileEntry } from './tree.ts'

export interface Library {
  name: string
  version: string
  license: string
  /** `sha512-…`, as the lock file has it. */
  integrity: string
}

interface Locked {
  version: string
  license?: string
  integrity?: string
}

export function readLock(root: string): Record<string, Locked> {
  return JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
}

/** Throws when what is installed in `folder` is not what is locked. */
export function library(root: string, folder: string): Library {
  const { version, license = 'unknown', integrity = '' } = readLock(root)[folder] ?? {}
  const installed = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  if (installed.version !== version) {
    throw new Error(`${folder} is ${installed.version} and not ${version}: run npm ci`)
  }
  return { name: installed.name, version: installed.version, license, integrity }
}

/** What is loaded of a library that stays a package; `native` is its addon for the machine, such as `linux-x64.node`. */
export function libraryFiles(root: string, folder: string, native: string): FileEntry[] {
  const from = join(root, folder)
  const needed = ['package.json', 'LICENSE', 'lib/**/*.js', `prebuilds/${native}`]
  return globSync(needed, { cwd: from }).map((path) => ({
    path: `/usr/lib/feedsyncd/${folder}/${path}`,
    source: join(from, path),
    mode: 0o644,
  }))
}
