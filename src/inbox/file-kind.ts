// Owns which things in the folder can be a feed at all: regular files, and nothing that leads
// elsewhere or that reading could block on. Each refusal has its sentence.

import type { BigIntStats } from 'node:fs'
import { isLasting } from '../lib/errno.ts'
import { errorCode, messageOf } from '../lib/errors.ts'
import { identityOf, NO_IDENTITY } from '../lib/files.ts'
import type { Refusal, Sighting } from './port.ts'

type Words = Pick<Refusal, 'code' | 'reason' | 'hint'>

export const NOT_UTF8: Words = {
  code: 'not-utf8',
  reason: 'has a name that is not valid UTF-8',
  hint: 'rename it; its odd bytes are shown as %XX',
}

/** Directories in each other. Each look at one goes through all above it, and a tree costs as many looks as it has folders. */
export const MOST_DEPTH = 32
export const TOO_DEEP: Words = {
  code: 'too-deep',
  reason: `lies more than ${MOST_DEPTH} directories deep`,
  hint: 'move it further up',
}

/** What a look at a path is, or why it is refused. */
export function judge(path: string, look: BigIntStats | Error): Sighting | Refusal {
  if (look instanceof Error) {
    const reason = `cannot be looked at (${named(look)})`
    const hint = isLasting(named(look)) ? READ_IT : LOOKED_AT_AGAIN
    return { path, identity: NO_IDENTITY, code: 'unreadable', reason, hint }
  }
  const identity = identityOf(look)
  if (look.isFile()) return { path, identity }
  if (look.isDirectory()) return { path: `${path}/`, identity, ...DIRECTORY }
  return { path, identity, ...(look.isSymbolicLink() ? LINK : special(look)) }
}

export function cannotBeListed(error: unknown): Words {
  const reason = `is a directory that cannot be listed (${named(error)})`
  return { code: 'unreadable', reason, hint: isLasting(named(error)) ? ENTER_IT : LOOKED_AT_AGAIN }
}

const LINK: Words = {
  code: 'symbolic-link',
  reason: 'is a symbolic link, which is not followed',
  hint: 'put the file or directory itself in its place',
}
const DIRECTORY: Words = {
  code: 'directory',
  reason: 'is a directory',
  hint: 'look at a file in it',
}

function special(stats: BigIntStats): Words {
  const kind = stats.isFIFO() ? 'fifo' : stats.isSocket() ? 'socket' : 'device'
  const reason = `is not a regular file (${kind})`
  return { code: 'not-regular', reason, hint: 'put a regular file in its place' }
}

const READ_IT = 'let the daemon’s user read it; it is looked at again when its permissions change'
const ENTER_IT = 'let the daemon’s user read and enter it'
const LOOKED_AT_AGAIN =
  'it is looked at again automatically; if this lasts, look into the system’s log'

function named(error: unknown): string {
  return errorCode(error) ?? messageOf(error)
}
