// Names a feed after the path of its file. Pure.

import { datedName } from './dated-name.ts'
import { unpackedName } from './packing.ts'

/** feedWithoutRule returns the feed of a path that no rule names: without `.gz`, and with `{date}` for a date. */
export function feedWithoutRule(path: string): string {
  return datedName(unpackedName(path)).name
}
