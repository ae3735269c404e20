// The libraries of the program, by the lock file.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Library {
  name: string
  version: string
  license: string
  /** `sha512-…`, as the lock file has it. */
  integrity: string
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

interface Locked {
  version: string
  license?: string
  integrity?: string
}

export function readLock(root: string): Record<string, Locked> {
  return JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
}
