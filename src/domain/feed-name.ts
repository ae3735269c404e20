// Names a feed after the path of its file. Pure.

import { datedName } from './dated-name.ts'
import { unpackedName } from './packing.ts'
import { withoutStamp } from './stamped-name.ts'

/** plainName returns a path without `.gz`, and without the time that the archive adds to the names of its files. */
export function plainName(path: string): string {
  return unpackedName(withoutStamp(path))
}

/** feedWithoutRule returns the feed of a path that no rule names: its plain name, with `{date}` for a date. */
export function feedWithoutRule(path: string): string {
  return datedName(plainName(composed(path))).name
}

/** composed returns a name in Unicode form NFC. Systems write an accented letter as one character or as two. */
export function composed(name: string): string {
  return name.normalize('NFC')
}
