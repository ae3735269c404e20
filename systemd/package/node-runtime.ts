// Finds the private Node of the package: the one that npm ci installed, or for another architecture the same release
// from the registry, verified by the checksum in the lock file.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readLock } from './library.ts'

export type Arch = 'x64' | 'arm64'

export interface Runtime {
  version: string
  /** The folder with bin/node and LICENSE. */
  folder: string
  sha256: string
}

export function nodeRuntime(root: string, arch: Arch, scratch: string): Runtime {
  const name = `node-linux-${arch}`
  const locked = readLock(root)[`node_modules/${name}`]
  if (locked?.integrity === undefined) throw new Error(`package-lock.json does not lock ${name}`)
  const { version, integrity } = locked
  const here = join(root, 'node_modules', name)
  const folder = existsSync(here) ? here : download(`${name}@${version}`, integrity, scratch)
  const sha256 = createHash('sha256')
    .update(readFileSync(join(folder, 'bin/node')))
    .digest('hex')
  return { version, folder, sha256 }
}

function download(spec: string, integrity: string, scratch: string): string {
  const into = join(scratch, 'node')
  mkdirSync(into)
  const packed = execFileSync('npm', ['pack', '--silent', spec], { cwd: into, encoding: 'utf8' })
  const file = join(into, packed.trim())
  const found = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
  if (found !== integrity) throw new Error(`${spec} has ${found}, but ${integrity} is locked`)
  execFileSync('tar', ['-xzf', file, '-C', into])
  return join(into, 'package')
}
