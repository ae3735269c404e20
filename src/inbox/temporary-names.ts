// Owns the built-in list of names that writers use while they write. Such a file is never a feed;
// its rename to the real name is the arrival.

/** `*` stands for anything, case does not matter. Each with who writes it. */
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
