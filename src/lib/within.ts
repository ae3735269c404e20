// Whether a path lies in a folder, by the names alone.

import { isAbsolute, relative } from 'node:path'

/** Also true of the folder itself. Both are absolute. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way)
}
