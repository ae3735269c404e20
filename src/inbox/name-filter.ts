// Owns which names are passed over, and by which rule: what `show PATH` says. Decides by name alone;
// what kind of file it is, is the listing's to find out.

import { globMatcher } from '../lib/glob.ts'
import type { Ignored } from './port.ts'

export type NameFilter = ReturnType<typeof createNameFilter>

export function createNameFilter(patterns: {
  include: readonly string[]
  exclude: readonly string[]
}) {
  const notIncluded = { rule: 'not-included', patterns: patterns.include } as const
  const include = patterns.include.map(globMatcher)
  const exclude = patterns.exclude.map((pattern) => ({ pattern, matches: globMatcher(pattern) }))
  // Only `dir/**` says something of all that is below; `*` matches a directory but not what is in it.
  const subtrees = exclude.filter(({ pattern }) => pattern.endsWith('/**'))

  const isHidden = (path: string) => path.startsWith('.') || path.includes('/.')

  return {
    /** Why a file of this path is passed over, or null. The user's own rules speak first. */
    ignored(path: string): Ignored | null {
      // Whatever is included, and also where receipts are written no more: each would get one of its own.
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
    /** Whether nothing below this directory can be a feed, so that it need not be listed. */
    prunes(directory: string): boolean {
      return isHidden(directory) || subtrees.some(({ matches }) => matches(directory))
    },
  }
}

/**
 * The built-in list of names that writers use while they write. Such a file is never a feed: its rename to the real name
 * is the arrival. `*` stands for anything, case does not matter. Each with who writes it.
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

/** A `*` at either end is left out, as it stands for anything: backtracking over it was a tenth of a scan. */
const toRegex = (pattern: string) =>
  `^${pattern.replace(/[.$!~#]/g, '\\$&').replaceAll('*', '.*')}$`.replace(/^\^\.\*|\.\*\$$/g, '')

const ANY = new RegExp(PATTERNS.map(toRegex).join('|'), 'is')

/** The pattern of the list that a name (the last part of a path) falls under, or null. */
export function temporaryPattern(name: string): string | null {
  if (!ANY.test(name)) return null
  return PATTERNS.find((pattern) => new RegExp(toRegex(pattern), 'is').test(name)) ?? null
}
