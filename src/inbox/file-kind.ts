// Owns which things in the folder can be a feed at all: regular files, and nothing that leads
// elsewhere or that reading could block on. Each refusal has its sentence.

import type { BigIntStats } from 'node:fs'
import { errorCode, messageOf } from '../lib/errors.ts'
import { isLasting } from '../lib/file-errors.ts'
import { identityOf, NO_IDENTITY } from '../lib/file-identity.ts'
import type { Refusal, Sighting } from './port.ts'

export const NOT_UTF8 = 'has a name that is not valid UTF-8: rename it'

/** Folders in each other. Each look at one goes through all above it, and a tree costs as many looks as it has folders. */
export const MOST_DEPTH = 32
export const TOO_DEEP = `lies more than ${MOST_DEPTH} folders deep: move it further up`

/** What a look at a path is, or why it is refused. */
export function judge(path: string, look: BigIntStats | Error): Sighting | Refusal {
  if (look instanceof Error) {
    return { path, identity: NO_IDENTITY, reason: `cannot be looked at (${named(look)})` }
  }
  const identity = identityOf(look)
  if (look.isFile()) return { path, identity }
  return { path, identity, reason: otherKind(look) }
}

export function cannotBeListed(error: unknown): string {
  const code = named(error)
  const advice = isLasting(code) ? ': let the daemon’s user read and enter it' : ''
  return `is a directory that cannot be listed (${code})${advice}`
}

function otherKind(stats: BigIntStats): string {
  if (stats.isSymbolicLink()) return 'is a symbolic link: put the file itself in the folder'
  if (stats.isDirectory()) return 'is a directory'
  return `is not a regular file (${specialKind(stats)})`
}

function specialKind(stats: BigIntStats): string {
  if (stats.isFIFO()) return 'fifo'
  if (stats.isSocket()) return 'socket'
  return 'device'
}

function named(error: unknown): string {
  return errorCode(error) ?? messageOf(error)
}
