// The names of files in the archive and the quarantine. Pure.

import { extname } from 'node:path'
import { isPacked } from './packing.ts'

/** NAME_MAX is the longest file name of Linux's file systems, in bytes. */
const NAME_MAX = 255

const STAMP = /\.\d{8}T\d{9}Z(?:\.\d+)?(?=(?:\.xml\.gz|\.[^./]*)?$)/i

/**
 * stampedName adds a time to a name: `jobs.xml` becomes `jobs.20270104T060000000Z.xml`, or with counter 2
 * `jobs.20270104T060000000Z.2.xml`; counter 0 adds no number. It shortens a name that is too long by whole characters.
 */
export function stampedName(name: string, isoTime: string, counter: number): string {
  const extension = isPacked(name) ? name.slice(-'.xml.gz'.length) : extname(name)
  const stamp = `.${isoTime.replace(/[-:.]/g, '')}${counter === 0 ? '' : `.${counter}`}`
  const room = NAME_MAX - Buffer.byteLength(stamp + extension)
  let stem = name.slice(0, name.length - extension.length)
  while (Buffer.byteLength(stem) > room) stem = [...stem].slice(0, -1).join('')
  return stem + stamp + extension
}

/**
 * withoutStamp returns a path without what `stampedName` added, so that a file from the archive that is dropped again
 * belongs to the same feed as before.
 */
export function withoutStamp(path: string): string {
  return path.replace(STAMP, '')
}
