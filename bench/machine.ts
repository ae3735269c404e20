// The facts about the host that a reader needs to judge the figures; no fact identifies the host.

import { execFileSync } from 'node:child_process'
import { statfsSync } from 'node:fs'
import { arch, cpus, loadavg, release, totalmem } from 'node:os'
import { versionOf } from './peers.ts'
import { describeProgram, installedProgram } from './program.ts'

/** canClone returns whether a copy shares the blocks of its original on this folder's file system: XFS or Btrfs. */
export function canClone(directory: string): boolean {
  return ['xfs', 'btrfs'].includes(fileSystemOf(directory))
}

/** Magic numbers of statfs(2). */
const FILE_SYSTEMS: Record<number, string> = {
  61267: 'ext2/3/4',
  16914836: 'tmpfs',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  2035054128: 'overlay',
}

function fileSystemOf(directory: string): string {
  const { type } = statfsSync(directory)
  return FILE_SYSTEMS[type] ?? `type ${type}`
}

export function machineFacts(directory: string): Record<string, string> {
  const processors = cpus()
  return {
    processor: `${processors.length} x ${processors[0]?.model ?? 'unknown'} (${arch()})`,
    memory: `${(totalmem() / 2 ** 30).toFixed(1)} GiB`,
    system: `Linux ${release()}`,
    'file system': fileSystemOf(directory),
    'load before': loadavg()
      .map((load) => load.toFixed(2))
      .join(' '),
    node: process.version,
    xmllint: versionOf('xmllint')?.replace('xmllint: using ', '') ?? 'missing',
    curl: versionOf('curl')?.split(' (')[0] ?? 'missing',
    program: describeProgram(installedProgram()),
    commit: commit(),
  }
}

function commit(): string {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
    const changed = git('status', '--porcelain', '--', 'src') === '' ? '' : ' and changes'
    return git('rev-parse', '--short', 'HEAD') + changed
  } catch {
    return 'unknown'
  }
}
