// Reads the libraries of the program from the lock file.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Library {
  name: string
  version: string
  license: string
  /** `sha512-…`, from the lock file. */
  integrity: string
}

/** library throws if the version installed in `folder` is not the locked one. */
export function library(root: string, folder: string): Library {
  const { version, license = 'unknown', integrity = '' } = readLock(root)[folder] ?? {}
  const installed = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  if (installed.version !== version) {
    throw new Error(`${folder} is ${installed.version}, not ${version}: run npm ci`)
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
