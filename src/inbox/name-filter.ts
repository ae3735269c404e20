// Decides by the name alone whether a path is ignored, and by which rule, which `show PATH` tells. listing.ts checks
// the kind of the file.

import { globMatcher } from '../lib/glob.ts'
import type { Ignored } from './port.ts'

export interface NameFilter {
  /** ignored returns the first rule that ignores this path, or null: receipt, `exclude`, temporary name, `include`. */
  ignored(path: string): Ignored | null
  /** prunes returns whether no file below this directory can be a feed, so that it need not be listed. */
  prunes(directory: string): boolean
}

export function createNameFilter(patterns: {
  include: readonly string[]
  exclude: readonly string[]
}): NameFilter {
  const notIncluded = { rule: 'not-included', patterns: patterns.include } as const
  const include = patterns.include.map(globMatcher)
  const exclude = patterns.exclude.map((pattern) => ({ pattern, matches: globMatcher(pattern) }))
  // Only a pattern that ends with `/**` excludes all files below a directory. The pattern `old*` matches a directory
  // `old-1`, but not `old-1/jobs.xml`.
  const subtrees = exclude.filter(({ pattern }) => pattern.endsWith('/**'))

  const isHidden = (path: string) => path.startsWith('.') || path.includes('/.')

  return {
    ignored(path) {
      // Ignore receipts even if a pattern includes them: otherwise each receipt would get its own receipt.
      if (path.endsWith('.receipt.json')) return { rule: 'receipt' }
      const excluded = exclude.find(({ matches }) => matches(path))
      if (excluded !== undefined) return { rule: 'excluded', pattern: excluded.pattern }
      const slash = path.lastIndexOf('/')
      if (slash !== -1 && isHidden(path.slice(0, slash))) {
        return { rule: 'temporary-name', pattern: '.*/**' }
      }
      const temporary = temporaryPattern(path.slice(slash + 1))
      if (temporary !== null) return { rule: 'temporary-name', pattern: temporary }
      return include.some((matches) => matches(path)) ? null : notIncluded
    },
    prunes(directory) {
      return isHidden(directory) || subtrees.some(({ matches }) => matches(directory))
    },
  }
}

/**
 * PATTERNS are the names of files that are still being written, with the programs that use them. The feed arrives when
 * the writer renames the file. `*` stands for any text; case does not matter.
 */
const PATTERNS = [
  // rsync (.f.AbC123, .~tmp~), SFTPGo, Syncthing, ownCloud, ProFTPD, Pure-FTPd, NFS, FUSE, editors
  '.*',
  '*.filepart', // WinSCP
  '*.part', // Firefox, wget wrappers, Nextcloud (.ocTransferId123.part)
  '*.partial', // rclone, Internet Explorer
  '*.tmp',
  '*.temp',
  '*.writing', // Spring Integration
  '*.camellock', // Apache Camel
  '*.inprogress', // Camel, Hadoop, Flink
  '*.incomplete',
  '*.processing',
  '*.crdownload', // Chrome
  '*.opdownload', // Opera
  '*.download', // Safari
  '*.upload',
  '*.uploading',
  '*.lock',
  '*.lck',
  '*.!ut',
  '*.!qb',
  '*.aria2',
  '*~', // editors
  '*.swp', // vim
  '*.swo',
  '*.swx',
  '~$*', // Microsoft Office
  '#*#', // Emacs
  '~syncthing~*', // Syncthing on Windows
]

/** toRegex omits a `*` at either end of a pattern, because backtracking over the `*` took a tenth of a scan. */
const toRegex = (pattern: string) =>
  `^${pattern.replace(/[.$!~#]/g, '\\$&').replaceAll('*', '.*')}$`.replace(/^\^\.\*|\.\*\$$/g, '')

const ANY = new RegExp(PATTERNS.map(toRegex).join('|'), 'is')

/** temporaryPattern returns the pattern that matches a name (the last part of a path), or null. */
export function temporaryPattern(name: string): string | null {
  if (!ANY.test(name)) return null
  return PATTERNS.find((pattern) => new RegExp(toRegex(pattern), 'is').test(name)) ?? null
}
