// What a package holds: one list of entries, from which both the .deb and the tarball are made.

import {
  chmodSync,
  copyFileSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

/** `path` is absolute on the host that it is installed on. */
export interface FileEntry {
  path: string
  source: string
  mode: number
}
export type Entry = FileEntry | { path: string; content: string | Buffer; mode: number }

/** Writes the entries below `root`, all of one age (s since 1970), whatever the umask. */
export function writeTree(root: string, entries: readonly Entry[], epoch: number): void {
  for (const entry of entries) {
    const path = join(root, entry.path)
    mkdirSync(dirname(path), { recursive: true })
    if ('source' in entry) copyFileSync(entry.source, path)
    else writeFileSync(path, entry.content)
    chmodSync(path, entry.mode)
  }
  const all = readdirSync(root, { recursive: true, withFileTypes: true })
  for (const item of all) {
    const path = join(item.parentPath, item.name)
    if (item.isDirectory()) chmodSync(path, 0o755)
    lutimesSync(path, epoch, epoch)
  }
  chmodSync(root, 0o755)
  lutimesSync(root, epoch, epoch)
}

export function gzip(text: string): Buffer {
  const bytes = gzipSync(text, { level: 9 })
  // The system that packed it, which zlib notes.
  bytes[9] = 255
  return bytes
}
