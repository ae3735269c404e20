// Names a feed after the path of its file. Pure.

import { datedName } from './dated-name.ts'
import { unpackedName } from './packing.ts'

/** feedWithoutRule returns the feed of a path that no rule names: without `.gz`, and with `{date}` for a date. */
export function feedWithoutRule(path: string): string {
  return datedName(unpackedName(composed(path))).name
}

/** composed returns a name in Unicode form NFC. Systems write an accented letter as one character or as two. */
export function composed(name: string): string {
  return name.normalize('NFC')
}
