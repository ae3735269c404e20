// The tarball for hosts without dpkg: unpacked at /. It names files and no folders, so that no folder of
// the host changes its owner or mode.

import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Entry, writeTree } from './tree.ts'

export interface TarballOptions {
  version: string
  arch: string
  epoch: number
  /** A program and its flags, and the ending of what it makes. */
  compression: { program: string; ending: string }
  stage: string
  out: string
}

export function buildTarball(entries: readonly Entry[], options: TarballOptions): string {
  const { version, arch, epoch, compression, stage, out } = options
  writeTree(stage, entries, epoch)
  mkdirSync(out, { recursive: true })
  const file = join(out, `feedsyncd-${version}-linux-${arch}.tar.${compression.ending}`)
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--format=gnu']
  const list = ['--no-recursion', '--verbatim-files-from', '--files-from=-']
  const args = ['-C', stage, ...owner, '-I', compression.program, '-cf', file, ...list]
  const input = entries
    .map(({ path }) => path.slice(1))
    .sort()
    .join('\n')
  execFileSync('tar', args, { input, stdio: ['pipe', 'ignore', 'inherit'] })
  return file
}
