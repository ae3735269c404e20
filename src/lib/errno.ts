// What the system's error at a file or directory means: the words for people, and the conclusion that is safe. This is
// the one table for all code that looks at, opens, reads or writes files.

import { errorCode, messageOf } from './errors.ts'

/** ErrnoSubject is the file or directory at which the error happened. */
export interface ErrnoSubject {
  /** Beginning of the sentence: `the folder /srv/in`. */
  name: string
  /** What a person can correct instead: `inbox.directory`, `the path`. */
  setting: string
  use: 'read' | 'write' | 'run'
  /** Whether the file is open. Then EACCES means that another program has locked it. */
  isOpen?: boolean
  /** Hints by error code, instead of the usual ones. */
  hints?: Readonly<Record<string, string>>
}

const DONE = { read: 'read', write: 'written', run: 'run' } as const

const FORBIDDEN = [
  'may not be {done} by this user',
  'let the daemon’s user {use} it, and enter the folders above it',
] as const
/** On a network share, another program can lock a file. */
const IN_USE = [
  'is open in another program',
  'feedsyncd tries again; if this lasts, close it in that program',
] as const
const OPEN_FILES = [
  'cannot be {done}',
  'raise the number of files that may be open (LimitNOFILE= of the unit)',
] as const

const WORDS: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  EBUSY: IN_USE,
  ETXTBSY: IN_USE,
  ENOENT: ['does not exist', 'create it, mount it, or correct {setting}'],
  ENOTDIR: ['has a part in its path that is not a directory', 'correct it, or {setting}'],
  EISDIR: ['is a directory', 'put a file in its place, or correct {setting}'],
  ELOOP: ['leads through a link that cannot be followed', 'correct the link, or {setting}'],
  ENXIO: ['is a socket or device', 'put a regular file in its place'],
  ENAMETOOLONG: ['has a name that is too long', 'use a shorter name'],
  EFBIG: [
    'is larger than this user’s limit of file sizes',
    'raise the limit of file sizes (LimitFSIZE= of the unit, ulimit -f in a shell)',
  ],
  EMFILE: OPEN_FILES,
  ENFILE: OPEN_FILES,
  ENOSPC: ['has no room left on its disk', 'free space on that disk'],
  EDQUOT: ['has no room left in its quota', 'raise the disk quota of the daemon’s user'],
  EROFS: ['is read-only', 'read dmesg, then mount its file system writable'],
  ESTALE: ['is a stale network mount', 'mount it again'],
  ENOTCONN: ['is a mount without its server', 'mount it again'],
}
const OTHER = ['cannot be {done}', 'look for errors of its disk in the system’s log'] as const
const NO_CODE_HINT =
  'write a regular file under another name, and rename it to this name when it is complete'

/**
 * errnoText explains an error of a file. If the error has no system code, as from `readRegular`, `code` is null, and
 * the error's own message follows the name.
 */
export function errnoText(
  error: unknown,
  subject: ErrnoSubject,
): { code: string | null; reason: string; hint: string } {
  const { hints, isOpen = false, name, setting, use } = subject
  const code = errorCode(error)
  if (code === null) return { code, reason: `${name} ${messageOf(error)}`, hint: NO_CODE_HINT }
  const [what, hint] = (isOpen && code === 'EACCES' ? IN_USE : WORDS[code]) ?? OTHER
  return {
    code,
    reason: `${name} ${what.replace('{done}', DONE[use])} (${code})`,
    hint: hints?.[code] ?? hint.replace('{use}', use).replace('{setting}', setting),
  }
}

/** isMissing returns whether the path no longer exists, or a part of it is no longer a directory. */
export function isMissing(code: string | null): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR'
}
