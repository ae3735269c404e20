// The libraries that the program needs when it runs, by the lock file, and of each the files that are
// loaded: no types, no maps, no tests, no sources in C, and one native file.

import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Entry } from './tree.ts'

export interface Library {
  name: string
  version: string
  license: string
  /** `sha512-…`, as the lock file has it. */
  integrity: string
  /** Where it lies, relative to the checkout. */
  folder: string
}

interface Locked {
  version: string
  license?: string
  integrity?: string
  dev?: boolean
  devOptional?: boolean
  optional?: boolean
}

const LOADED = /\.(js|cjs|mjs|json)$/
const LICENCE = /^(licen[cs]e|notice|copying)/i
const NEVER_LOADED = /(^|\/)(test|tests|bench|benchmarks|examples|docs|\.github)\//

export function readLock(root: string): Record<string, Locked> {
  return JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
}

/** Throws when what is installed is not what is locked. */
export function libraries(root: string): Library[] {
  return Object.entries(readLock(root)).flatMap(([folder, locked]) => {
    const { version, license = 'unknown', integrity = '' } = locked
    if (folder === '' || locked.dev || locked.devOptional || locked.optional) return []
    const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length)
    const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
    if (manifest.version !== version) {
      throw new Error(`${folder} is ${manifest.version} and not ${version}: run npm ci`)
    }
    return [{ name, version, license, integrity, folder }]
  })
}

/** `native` names the one addon file of this machine: `linux-x64.node`. */
export function libraryFiles(root: string, all: readonly Library[], native: string): Entry[] {
  return all.flatMap(({ folder }) => {
    const from = join(root, folder)
    return readdirSync(from, { recursive: true, withFileTypes: true })
      .filter((item) => item.isFile())
      .map((item) => relative(from, join(item.parentPath, item.name)))
      .filter((path) => isNeeded(path, native))
      .sort()
      .map((path) => ({
        path: `/usr/lib/feedsyncd/${folder}/${path}`,
        source: join(from, path),
        mode: 0o644,
      }))
  })
}

function isNeeded(path: string, native: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  // A library inside another one is an entry of the lock file by itself.
  if (path.startsWith('node_modules/') || NEVER_LOADED.test(path)) return false
  return name.endsWith('.node') ? name === native : LOADED.test(name) || LICENCE.test(name)
}
